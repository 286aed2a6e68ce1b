/** A page of the site: the Markdown file it is made of, and what the navigation calls it. */
interface SitePage {
  readonly source: string;
  readonly label: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

const page = (source: string, label: string): SitePage => ({ source, label });

/** The navigation, by task. A test finds a page of `docs/` that is not in it. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: "Begin",
    pages: [
      page("README.md", "What it is"),
      page("docs/sandbox.md", "Try it without an account"),
      page("docs/install.md", "Install"),
      page("docs/first-mirror.md", "First mirror"),
      page("docs/sk.md", "Slovensky: rýchly štart"),
    ],
  },
  {
    title: "Keep it current",
    pages: [page("docs/nightly.md", "Every night"), page("docs/webhooks.md", "Webhooks")],
  },
  {
    title: "Read it",
    pages: [
      page("docs/readers.md", "Reports by reader"),
      page("docs/reporting.md", "The report"),
      page("docs/views.md", "Views"),
      page("docs/exports.md", "Exports"),
      page("docs/many-companies.md", "Many companies"),
      page("docs/accountant.md", "The accountant’s month"),
      page("docs/files.md", "PDFs and attachments"),
    ],
  },
  {
    title: "Operate",
    pages: [
      page("docs/operation.md", "Deploy"),
      page("docs/fleet.md", "Many machines"),
      page("docs/fleet-sizing.md", "Sizing a fleet"),
      page("examples/README.md", "Examples"),
      page("docs/monitoring.md", "Monitor"),
      page("docs/status-page.md", "Status page"),
      page("docs/backup.md", "Back up and restore"),
      page("docs/litestream.md", "Litestream"),
      page("docs/upgrade.md", "Upgrade"),
      page("docs/size.md", "Size"),
      page("docs/verify.md", "Verify"),
      page("docs/security.md", "Security"),
      page("docs/troubleshooting.md", "Troubleshooting"),
    ],
  },
  {
    title: "Look up",
    pages: [
      page("docs/commands.md", "Commands and exit codes"),
      page("docs/how-it-works.md", "How it works"),
      page("docs/library.md", "Client library"),
      page("docs/write-a-connector.md", "Write a connector"),
      page("src/README.md", "How the code is made"),
      page("test/bench/peers/README.md", "Beside other tools"),
      page("SECURITY.md", "Threats and tests"),
      page("CONTRIBUTING.md", "Contributing"),
      page("CHANGELOG.md", "Changelog"),
    ],
  },
];

/** Where a source stands in the site: `README.md` becomes `index.html`, `docs/files.md` `docs/files.html`. */
export function targetOf(source: string): string {
  return source.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
}
