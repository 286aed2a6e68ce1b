"""A company of Fintoro as JSON lines, by a low-code source of Airbyte's CDK: every list, and each document's detail.

    python airbyte_fintoro.py DIR       BASE_URL and FINTORO_TOKEN in the environment

Writes manifest.yaml, config.json and catalog.json into DIR, then runs `source-declarative-manifest read`, whose
records go to DIR/records.jsonl. A destination of Airbyte would load them; that work is not measured here.
"""

import json
import os
import subprocess
import sys

import yaml
from company import base, documents, kinds, paged, token, whole

folder = os.path.abspath(sys.argv[1])
os.makedirs(folder, exist_ok=True)
in_query = {"type": "RequestOption", "inject_into": "request_parameter"}


def pages(size):
    return {
        "type": "DefaultPaginator",
        "page_token_option": in_query | {"field_name": "page"},
        "page_size_option": in_query | {"field_name": "perPage"},
        "pagination_strategy": {
            "type": "PageIncrement",
            "start_from_page": 1,
            "page_size": size,
            "inject_on_first_request": True,
        },
    }


def stream(name, path, field=("data",), **retriever):
    properties = {"id": {"type": "integer"}}
    return {
        "type": "DeclarativeStream",
        "name": name.replace("-", "_"),
        "primary_key": ["id"],
        "retriever": {
            "type": "SimpleRetriever",
            "requester": {
                "type": "HttpRequester",
                "url_base": "{{ config['base_url'] }}",
                "path": path,
                "http_method": "GET",
                "authenticator": {"type": "BearerAuthenticator", "api_token": "{{ config['token'] }}"},
                "error_handler": {
                    "type": "DefaultErrorHandler",
                    "max_retries": 10,
                    "response_filters": [
                        {"type": "HttpResponseFilter", "http_codes": [429], "action": "RATE_LIMITED"}
                    ],
                    "backoff_strategies": [{"type": "WaitTimeFromHeader", "header": "Retry-After"}],
                },
            },
            "record_selector": {
                "type": "RecordSelector",
                "extractor": {"type": "DpathExtractor", "field_path": list(field)},
            },
        }
        | retriever,
        "schema_loader": {
            "type": "InlineSchemaLoader",
            "schema": {"type": "object", "additionalProperties": True, "properties": properties},
        },
    }


def details(path):
    parent = stream(f"{path}_list", path, paginator=pages(500))
    config = {"type": "ParentStreamConfig", "parent_key": "id", "partition_field": "document", "stream": parent}
    router = {"type": "SubstreamPartitionRouter", "parent_stream_configs": [config]}
    return stream(path, path + "/{{ stream_partition.document }}", field=(), partition_router=router)


series = {
    "type": "ListPartitionRouter",
    "values": kinds,
    "cursor_field": "documentType",
    "request_option": in_query | {"field_name": "documentType"},
}
streams = [stream(path, path) for path in whole]
streams += [stream(path, path, paginator=pages(200)) for path in paged]
streams += [stream("numerical-series", "numerical-series", partition_router=series)]
streams += [details(path) for path in documents]
manifest = {
    "version": "6.48.0",
    "type": "DeclarativeSource",
    "check": {"type": "CheckStream", "stream_names": ["banks"]},
    "streams": streams,
    "spec": {
        "type": "Spec",
        "connection_specification": {"type": "object", "required": ["base_url", "token"], "properties": {}},
    },
    "concurrency_level": {"type": "ConcurrencyLevel", "default_concurrency": 10, "max_concurrency": 40},
}
config = {"base_url": base, "token": token}
catalog = {
    "streams": [
        {
            "stream": {
                "name": one["name"],
                "json_schema": {},
                "supported_sync_modes": ["full_refresh"],
                "source_defined_primary_key": [["id"]],
            },
            "sync_mode": "full_refresh",
            "destination_sync_mode": "overwrite",
        }
        for one in streams
    ]
}


def written(name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


program = os.path.join(os.path.dirname(sys.executable), "source-declarative-manifest")
with open(os.path.join(folder, "records.jsonl"), "w") as records:
    ended = subprocess.run(
        [
            program,
            "read",
            "--config",
            written("config.json", json.dumps(config)),
            "--catalog",
            written("catalog.json", json.dumps(catalog)),
            "--manifest-path",
            written("manifest.yaml", yaml.safe_dump(manifest, sort_keys=False)),
        ],
        stdout=records,
    )
sys.exit(ended.returncode)
