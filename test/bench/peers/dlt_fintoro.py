"""A company of Fintoro in SQLite, by dlt: every list, and the detail of every document.

    python dlt_fintoro.py DIR           BASE_URL and FINTORO_TOKEN in the environment

With what dlt offers to be fast: the largest pages, lists and details in parallel, one loader (two lock each other out
of SQLite). It merges by id. Prints the answers 429 that it met.
"""

import os
import sys

folder = os.path.abspath(sys.argv[1])
os.makedirs(folder, exist_ok=True)
os.environ |= {
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__REQUEST_MAX_ATTEMPTS": "30",
    "RUNTIME__REQUEST_BACKOFF_FACTOR": "0.5",
    "EXTRACT__WORKERS": "8",
    "EXTRACT__MAX_PARALLEL_ITEMS": "40",
    "LOAD__WORKERS": "1",
    "DATA_WRITER__BUFFER_MAX_ITEMS": "20000",
}

import dlt  # noqa: E402
from company import base, documents, kinds, paged, token, whole  # noqa: E402
from dlt.sources.helpers import requests  # noqa: E402
from dlt.sources.rest_api import rest_api_source  # noqa: E402
from requests.adapters import HTTPAdapter  # noqa: E402

refused = 0


def ask(path, **params):
    """One answer, by dlt's own session, which tries again after a 429."""
    return requests.get(base + path, params=params, headers={"Authorization": f"Bearer {token}"}).json()


def counted(send):
    def sent(*args, **options):
        global refused
        response = send(*args, **options)
        refused += response.status_code == 429
        return response

    return sent


HTTPAdapter.send = counted(HTTPAdapter.send)


def lists():
    pages = {"type": "page_number", "base_page": 1, "total_path": "paginator.totalPages"}
    for path in whole + paged:
        paginator, params = (pages, {"perPage": 200}) if path in paged else ("single_page", {})
        yield {
            "name": path.replace("-", "_"),
            "primary_key": "id",
            "parallelized": True,
            "endpoint": {"path": path, "params": params, "paginator": paginator, "data_selector": "data"},
        }
    for kind in kinds:
        yield {
            "name": f"series_of_{kind.replace('-', '_')}",
            "table_name": "numerical_series",
            "primary_key": "id",
            "parallelized": True,
            "endpoint": {
                "path": "numerical-series",
                "params": {"documentType": kind},
                "paginator": "single_page",
                "data_selector": "data",
            },
        }


def details(path):
    @dlt.resource(name=path.replace("-", "_") + "_ids", selected=False, parallelized=True)
    def ids():
        number, last = 1, 1
        while number <= last:
            body = ask(path, perPage=500, page=number)
            last = body["paginator"]["totalPages"]
            yield [one["id"] for one in body["data"]]
            number += 1

    @dlt.transformer(data_from=ids, name=path.replace("-", "_"), primary_key="id", write_disposition="merge")
    def records(some):
        @dlt.defer
        def read(part):
            return [ask(f"{path}/{one}") for one in part]

        for first in range(0, len(some), 25):
            yield read(some[first : first + 25])

    return records


@dlt.source(name="fintoro")
def fintoro():
    client = {"base_url": base, "auth": {"type": "bearer", "token": token}}
    defaults = {"write_disposition": "merge"}
    source = rest_api_source({"client": client, "resource_defaults": defaults, "resources": list(lists())})
    yield from source.resources.values()
    yield from map(details, documents)


pipeline = dlt.pipeline(
    pipeline_name="fintoro",
    pipelines_dir=f"{folder}/pipelines",
    destination=dlt.destinations.sqlalchemy(
        f"sqlite:///{folder}/mirror.db", create_primary_keys=True, create_unique_indexes=True
    ),
    dataset_name="main",
)
pipeline.run(fintoro())
print(f"{refused} answers 429", file=sys.stderr)
