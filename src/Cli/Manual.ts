/**
 * What every command does, in words: the help, and what an unknown option is compared with. Plain data, so that
 * `--help` need not load anything else.
 */

export interface CommandManual {
  readonly usage: string
  readonly summary: string
  readonly about: ReadonlyArray<string>
  /** `--name VALUE` → what it does. */
  readonly options: Readonly<Record<string, string>>
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>
  /** A list that the product keeps: loaded for the help of this command alone. */
  readonly list?: {
    readonly title: string
    readonly rows: () => Promise<ReadonlyArray<readonly [name: string, what: string]>>
  }
}

const connection = "--connection NAME"
const onlyThis = "Only this connection of the settings; default: all of them."

export const commands = {
  init: {
    usage: "tieout init [--yes] [--out FILE] [--force]",
    summary: "Write a settings file, with every setting and its default in it.",
    about: [
      "Asks for the connections, their surfaces, the time zone and the base currency, and says which environment variables to",
      "set next. Where it is not run on a terminal, --yes takes the defaults. Credentials never stand in the file.",
    ],
    options: {
      "--yes": "Take the defaults and ask nothing.",
      "--out FILE": "Where it goes; default: config/tieout.yaml.",
      "--force": "Overwrite a file that is there.",
    },
    examples: [
      ["tieout init", "before anything else"],
      ["tieout init --yes --out /etc/tieout/tieout.yaml", "on a server"],
    ],
  },
  doctor: {
    usage: "tieout doctor [--connection NAME] [--discover]",
    summary: "Call the service's endpoints, and say which settings of the interface section are wrong.",
    about: [
      "Logs in and reads one page of everything that a sync needs, one request after the other; needs no database. Of the",
      "answers it shows field names and types, never values. Ends with 1 where something is wrong.",
      "With --discover it tries other names and paths and prints the settings that fit, as YAML for config/tieout.yaml.",
    ],
    options: {
      [connection]: onlyThis,
      "--discover": "Propose the interface section from live answers. Only reads.",
    },
    examples: [
      ["tieout doctor", "before the first sync"],
      ["tieout doctor --discover >> config/tieout.yaml", "where the file has no interface section yet"],
    ],
  },
  migrate: {
    usage: "tieout migrate",
    summary: "Bring the database's tables up to date.",
    about: [
      "Every command that writes does this by itself. Run it alone before an upgrade, or to check the database.",
    ],
    options: {},
    examples: [["DATABASE_URL=postgres://… tieout migrate", "prepare a server of your own"]],
  },
  sync: {
    usage: "tieout sync [--connection NAME] [--surface NAME] [--client ID] [--full | --quick]",
    summary: "Read what is new at the service, book it and prove it.",
    about: [
      "Reads every account's statement from where the last run stopped, fetches the deposits, withdrawals and conversions",
      "behind it, posts the journal entries and numbers them. Each page is one transaction: killed at any moment, the same",
      "command goes on where it stopped. It never writes to the service. Every client of the client surface is a book of its",
      "own; a client that cannot be read is named at the end and does not stop the others (exit code 3).",
    ],
    options: {
      [connection]: onlyThis,
      "--surface NAME": "Only this surface of the connection: organization, client or credit.",
      "--client ID": "Only this client of the client surface, by its identifier or its code.",
      "--full": "Read everything again from the start; what is known already changes nothing.",
      "--quick": "Only statements whose account's balance has moved: for the hours between full runs.",
    },
    examples: [
      ["tieout sync", "what a nightly job runs"],
      ["tieout sync --connection acme-uk --json", "one connection, the result as JSON"],
    ],
  },
  backfill: {
    usage:
      "tieout backfill (--period YYYY-MM | --from DATE --to DATE) [--connection NAME] [--surface NAME] [--client ID]",
    summary: "Read a period again and prove it from its opening to its closing balance.",
    about: [
      "Reads everything that touches the days again, whatever the syncs have read: proves each statement's running balance",
      "entry by entry, reads the movements behind it by identifier, and books what is older than all that was known. Entries",
      "that were missing, changed or are gone are reported and never overwrite what is in the books (exit code 3). An account",
      "that has moved since the last sync is read on to its end, and the books are proved as they stand then: a blocking",
      "finding of any month is exit code 3, too. It may run beside a sync: each waits while the other writes.",
    ],
    options: {
      "--period YYYY-MM": "A month of the accounting time zone.",
      "--from YYYY-MM-DD": "The first day, included; with --to.",
      "--to YYYY-MM-DD": "The last day, included.",
      [connection]: onlyThis,
      "--surface NAME": "Only this surface of the connection: organization, client or credit.",
      "--client ID": "Only this client of the client surface, by its identifier or its code.",
    },
    examples: [
      ["tieout backfill --period 2026-10", "before the month is closed"],
      ["tieout backfill --from 2026-10-01 --to 2026-10-15 --client C-17", "two weeks of one client"],
    ],
  },
  status: {
    usage: "tieout status [--connection NAME]",
    summary: "Show every account, whether it ties out, and what beside cash is open.",
    about: ["Reads the database only; needs no credentials."],
    options: { [connection]: onlyThis },
    examples: [["tieout status", "where the books stand"]],
  },
  reconcile: {
    usage: "tieout reconcile [--connection NAME] [--period YYYY-MM] [--full]",
    summary: "Check that the books agree with the service, and list what does not.",
    about: [
      "Runs every check over what changed since it last held. A finding stays open until a run proves it gone.",
      "Ends with 3 while a blocking finding is open or something is in quarantine.",
    ],
    options: {
      [connection]: onlyThis,
      "--period YYYY-MM": "Only this month, in the time zone of each book.",
      "--full": "Over all history, not only what changed; the base-currency journal as well.",
    },
    examples: [["tieout reconcile --period 2026-10", "before closing October"]],
  },
  balance: {
    usage: "tieout balance [--as-of YYYY-MM-DD] [--book B]",
    summary: "Show the trial balance: every account with its debits, credits and balance.",
    about: ["Everything that is booked, numbered or not, with totals per currency. Reads the database only."],
    options: {
      "--as-of YYYY-MM-DD": "At the end of this day, by the date that the books give an entry; default: all.",
      "--book B": "Only this book, by its code (ORG, …) or its client's identifier; default: all.",
    },
    examples: [["tieout balance --as-of 2026-10-31", "how the books stood at the end of October"]],
  },
  register: {
    usage: "tieout register CODE [--period YYYY-MM] [--book B] [--limit N]",
    summary: "Show the postings of an account with the balance after each.",
    about: [
      "CODE: an account's code, as tieout balance shows it; all accounts that have it, each by itself.",
    ],
    options: {
      "--period YYYY-MM": "Only this month, from its opening to its closing balance.",
      "--book B": "Only this book, by its code (ORG, …) or its client's identifier; default: all.",
      "--limit N": "The last N postings of each account; default: 100.",
    },
    examples: [["tieout register 6850 --period 2026-10", "the fees of October"]],
  },
  items: {
    usage: "tieout items CODE [--period YYYY-MM] [--book B]",
    summary: "Show what the balance of a balance-sheet account is made of, with its age.",
    about: [
      "Item by item: suspense, conversions in transit, loans, and deposits and withdrawals that are not final or came back in part.",
      "The rest of a clearing account, payouts and trading: a line per closed month, and what stands in the open months movement by",
      "movement. The lines of an account add up to its balance. What settles an item in your accounting system is not known here.",
    ],
    options: {
      "--period YYYY-MM":
        "What was open at the end of this month (a closed one: at its close), with its own movements one by one.",
      "--book B": "Only this book, by its code (ORG, …) or its client's identifier; default: all.",
    },
    examples: [
      ["tieout items 1990", "what stands in suspense, and since when"],
      ["tieout items 1020 --period 2026-09", "what was in clearing at the end of September"],
    ],
  },
  quarantine: {
    usage: "tieout quarantine (list [--all] | show Q12 | replay [Q12 …]) [--connection NAME]",
    summary: "List what could not be understood, look at it, and try it again.",
    about: [
      "list: the rows that wait, by number, with the reason and the place in the row. Ends with 3 while a row waits.",
      "show: one row as the service sent it. That is personal data: nothing else shows it, and no log holds it.",
      "replay: tries the rows that wait again, or those named, with today's settings, and books what can be understood now.",
      "What needs the service (a statement entry, a row that is still not understood) is asked for again. Numbers and",
      "reconciles the books concerned. It is safe to repeat; ends with 3 while a row that was tried still waits.",
    ],
    options: {
      [connection]: onlyThis,
      "--all": "list: the rows that are settled, too.",
    },
    examples: [
      ["tieout quarantine list", "what waits, and why"],
      ["tieout quarantine replay", "after an upgrade, or once the settings' interface section is mended"],
      ["tieout quarantine show Q12", "one row as the service sent it"],
    ],
  },
  reclassify: {
    usage:
      "tieout reclassify (ID --to CODE --reason TEXT [--name NAME] | --rules [--apply --reason TEXT] [--book B])",
    summary:
      "Move what stands in suspense to the account that it belongs to, or what changed posting rules move.",
    about: [
      "ID: a journal number, a finding (F12) or a statement entry. Moves all that stands of it in suspense, or else in a clearing",
      "account or in transit, by a journal entry of its own, dated as the entry, or today where its month is closed. Cash is never touched.",
      "Its finding closes. Not while a sync of the connection runs (exit code 4).",
      "--rules: applies the posting rules of the settings again to the entries of open months. Shows what would move; with --apply",
      "it moves it, by reclassifications dated as their entries. What a person has moved stays, and so do closed months. A return",
      "of what a person has moved goes to the same account.",
    ],
    options: {
      "--to CODE": "The account's code.",
      "--reason TEXT": "Why; it stands in the journal entry's description. Required, at most 150 characters.",
      "--name NAME": "The account's name, such as Expenses:Bank; needed where nothing has the code yet.",
      "--rules": "All entries of open months that the posting rules of the settings send elsewhere now.",
      "--apply": "With --rules: moves them; without it they are only shown.",
      "--book B": "With --rules: a book's code or its client's id; all books where it is not given.",
    },
    examples: [
      [
        'tieout reclassify F12 --to 6855 --name "Expenses:Bank" --reason "Account fee of October"',
        "by its finding",
      ],
      ['tieout reclassify ORG-2026-10-000007 --to 4120 --reason "Interest"', "by its journal number"],
      ["tieout reclassify --rules", "what changed posting rules would move"],
    ],
  },
  close: {
    usage: "tieout close YYYY-MM [--book B] [--dry-run] [--accept F12 --reason TEXT]… [--bridge | --check]",
    summary: "Prove a month complete and lock it, with its balances and a chained hash.",
    about: [
      "A month closes where every list and statement was read to its end after it, by the service's clock, the running balances",
      "were proved again, nothing blocking is open, and nothing is in quarantine or in suspense. What is in the way is listed,",
      "nothing is locked, and it ends with 3. Months close in order, one book at a time; what comes later for a closed month is",
      "dated to the first open day. Who closed, when and why is kept: TIEOUT_USER, or else the user of the operating system.",
    ],
    options: {
      "--book B": "Only this book, by its code (ORG, …) or its client's identifier; default: all.",
      "--dry-run": "Say what would be in the way; lock nothing.",
      "--accept F12":
        "Take responsibility for a finding. Of an account or client that is gone it stands until its evidence changes. May be repeated.",
      "--reason TEXT": "Why: one for each --accept in their order, or one for all.",
      "--bridge":
        "Only show the way from the provider's statement to the books, with late entries; locks nothing.",
      "--check":
        "Only recompute the hash and the balances of a closed month; ends with 1 where they do not agree.",
    },
    examples: [
      ["tieout close 2026-10 --dry-run", "what is in the way of closing October"],
      ['tieout close 2026-10 --accept F12 --reason "Bank confirmed, see ticket 7"', "with a finding open"],
      ["tieout close 2026-10 --check", "does October still agree with its close?"],
    ],
  },
  reopen: {
    usage: "tieout reopen YYYY-MM --reason TEXT [--book B]",
    summary: "Open the latest closed month again.",
    about: [
      "Only the latest closed month of a book can be opened. The close stays on record, and so does who opened it, when and why.",
    ],
    options: {
      "--reason TEXT": "Why; required.",
      "--book B":
        "Only this book, by its code or its client's identifier; default: all in which the month is closed.",
    },
    examples: [['tieout reopen 2026-10 --reason "Fee invoice came late" --book ORG', "one book"]],
  },
  export: {
    usage:
      "tieout export --format F[,F…] (--period YYYY-MM | --from DATE --to DATE | --all | --since-last) [--base] [--preview | --again | --as-of TIME] [--mode detail|summary] [--book B] [--out DIR]",
    summary: "Write the books as files that accountants import.",
    about: [
      "Formats of accounting systems are in the system's own accounts (tieout accounts), with a file per currency.",
      "With --base, all of it in accounting.baseCurrency, at two decimals: conversions with the gain or loss realized on them,",
      "balances revalued at the month's end. Where rates are missing it is refused, and all of them are listed (exit code 2).",
      "Files appear whole or not at all, in DIR/<connection>-<org|client>/<period>/<batch>/, manifest.json last.",
      "An accounting system keeps what it imported: entries that a batch of the same format has already are left out (a delta),",
      "and where nothing is left, nothing is written. The other formats are whole: a new batch takes the place of the one before.",
    ],
    options: {
      "--format F[,F…]": "One or more formats, separated by commas.",
      "--period YYYY-MM": "One month, in the accounting time zone.",
      "--from DATE": "First day, YYYY-MM-DD, included.",
      "--to DATE": "Last day, YYYY-MM-DD, included.",
      "--all": "Everything.",
      "--since-last": "What no standing batch of that book and format has.",
      "--preview": "Write a numbered batch that counts for nothing until tieout batches commit.",
      "--again":
        "Accounting systems: everything once more; the batches that have any of it (--base: any of the days) are superseded whole.",
      "--as-of TIME":
        "What the books said then (2026-11-01T12:00:00Z, or a day: its end), with difference.csv to now; counts for nothing.",
      "--base":
        "The base-currency journal instead of the books in their own currencies; not with --since-last.",
      "--mode detail|summary":
        "Accounting systems: a journal per entry, or per day and currency; default: detail.",
      "--book B": "Only this book, by its code (ORG, …); default: all.",
      "--out DIR": "Where the folders go; default: exports.",
    },
    examples: [
      ["tieout export --format journal,hledger --period 2026-10", "October in two formats"],
      ["tieout export --format journal --since-last", "only what the last export did not have"],
      [
        "tieout export --format journal --period 2026-10 --as-of 2026-11-05",
        "October as the books had it then",
      ],
      ["tieout export --base --format xero --period 2026-10", "October in the base currency, for Xero"],
    ],
    list: {
      title: "Formats:",
      rows: async () =>
        (await import("../Format/Formats.ts")).formats.map((one) => [one.name, one.description]),
    },
  },
  batches: {
    usage:
      "tieout batches (list [--book B] | show ORG/3 | commit ORG/4 | acknowledge ORG/3 [--note TEXT] | supersede ORG/3 --reason TEXT | download ORG/3 --out DIR) [--exports DIR]",
    summary: "See what was exported, say what became of it, write it once more.",
    about: [
      "A batch is a preview, committed, acknowledged (the accounting system has it) or superseded; who changed that, when and why",
      "is kept for good. A preview is committed only while its files and the books are as they were; one in the base currency",
      "is valued first. list and show say which of these are out of date: export them again, with --again. What is superseded counts",
      "as not exported: the next export has its entries again. download writes the files byte for byte, from the database",
      "(export.keepFiles) or else from their folder.",
    ],
    options: {
      "--book B": "list: only this book, by its code (ORG, …) or its client's identifier; default: all.",
      "--note TEXT": "acknowledge: anything worth keeping, such as the number that the import got.",
      "--reason TEXT": "supersede: why; required.",
      "--out DIR": "download: a new or an empty folder.",
      "--exports DIR": "show, commit, download: where the folders of the exports are; default: exports.",
    },
    examples: [
      ["tieout batches list", "every batch and its state"],
      ['tieout batches acknowledge ORG/3 --note "Xero, 2 November"', "once it is imported"],
      ["tieout batches download ORG/3 --out /tmp/october", "the same files again"],
    ],
  },
  report: {
    usage: "tieout report YYYY-MM [--book B] [--out DIR] [--as-of TIME]",
    summary: "Write a month's close package: review files, and one page for the auditor.",
    about: [
      "Trial balance, every posting with its running balance, every account from its opening to the provider's own balance,",
      "roll-forward, conversions, fees, receivables by age, open items, exceptions and late entries, as CSV and report.html, in",
      "DIR/<connection>-<org|client>/<month>/. A report of the same month that nobody changed is replaced; a folder that holds",
      "anything else is refused. A month that is not closed, or does not tie out, is marked DRAFT, and it ends with 3.",
    ],
    options: {
      "--book B": "Only this book, by its code (ORG, …) or its client's identifier; default: all.",
      "--out DIR": "Where the folders go; default: reports.",
      "--as-of TIME":
        "What the books said then, by the time of recording, and difference.csv to now: 2026-11-05T12:00:00Z, or a day, which means its end.",
    },
    examples: [
      ["tieout report 2026-10", "after tieout close 2026-10"],
      ["tieout report 2026-10 --as-of 2026-11-05", "what October looked like at the end of 5 November"],
    ],
  },
  accounts: {
    usage: "tieout accounts (export [--out FILE] [--book B] | import FILE)",
    summary: "Say what the books' accounts are called in your accounting system.",
    about: [
      "export: the accounts in use as CSV, with a column per accounting system, filled as last imported.",
      "import: checks the edited file as a whole and stores it as a new version, or says what is wrong, line by line, and",
      "stores nothing. Exports use the newest version; a column left empty throughout means the chart's own codes and names.",
    ],
    options: {
      "--out FILE": "export: a new file; default: standard output.",
      "--book B": "export: only this book, by its code (ORG, …); default: all.",
    },
    examples: [
      ["tieout accounts export --out accounts.csv", "to edit in a spreadsheet"],
      ["tieout accounts import accounts.csv", "what the next export uses"],
    ],
  },
  rates: {
    usage: "tieout rates (import FILE | export [--out FILE] | list)",
    summary: "Keep the exchange rates that the base-currency journal is valued at.",
    about: [
      "import: a CSV with the columns date,from,to,rate,source: one unit of from is worth rate of to. It is checked as a whole",
      "and stored as a new version, or refused with every mistake by its line and nothing stored (exit code 2). The newest rate",
      "of a day and pair counts; where only the other direction is there, it is turned round exactly. Then",
      "it says which months will be valued again, and which batches are out of date.",
      "export: all rates that count, as such a file. list: the pairs, and the days that they are there for.",
    ],
    options: { "--out FILE": "export: a new file; default: standard output." },
    examples: [
      ["tieout rates import ecb-2026-10.csv", "October's rates"],
      ["tieout rates list", "what there is"],
    ],
  },
  explain: {
    usage: "tieout explain ID",
    summary: "Show where a figure comes from, back to what the service said and when.",
    about: [
      "ID: a journal number; a finding (F12); a row in quarantine (Q12; its content is shown by tieout quarantine show Q12);",
      "a client's code; or the identifier of an account, a statement entry, a deposit, a withdrawal, a conversion, a receivable",
      "or a client, of which the first 8 characters are enough.",
    ],
    options: {},
    examples: [
      ["tieout explain ORG-2026-10-000007", "one journal entry"],
      ["tieout explain F12", "one finding, and what it is about"],
    ],
  },
  verify: {
    usage: "tieout verify (DIR [--chain] | --database)",
    summary:
      "Check an export folder, or a report's, from its files alone; or prove the whole database again.",
    about: [
      "DIR: checksums, row counts, control totals and balanced entries, against manifest.json; the statement's running balances;",
      "and every format converted back to the manifest's totals and the journal beside it. The folders' names must be those of",
      "the batch, its scope and its book; links and anything but regular files are refused. Where the batches before and after",
      "it stand beside it, their manifests are checked as a chain. Of a report: its files, and that its totals add up.",
      "Needs no database. --database: every journal entry, date, balance, running balance, journal number, close, batch with its",
      "bytes, and the base-currency journal, from the rows themselves; what was read against the service's own words; that what",
      "the checks find is an open finding; and that every rule of the database is in place. Every row that is wrong is named.",
      "Changes nothing.",
    ],
    options: {
      "--chain": "a batch that is missing from the chain beside the folder is a problem, and no note",
      "--database": "prove the database of the settings instead of a folder",
    },
    examples: [
      ["tieout verify exports/default-org/2026-10/1", "after copying it somewhere"],
      ["tieout verify --database", "after restoring it, or once a month"],
    ],
  },
  serve: {
    usage: "tieout serve [--no-webhook] [--status-port N]",
    summary: "Run by itself: the nightly sync, the status page, metrics and alerts in one process.",
    about: [
      "Syncs every connection at schedule.nightly (in accounting.timeZone), and at once where the last time was missed; then",
      "exports what is new in the formats of schedule.export. The status page is at http://127.0.0.1:8788/, with /healthz,",
      "/readyz and /metrics beside it; elsewhere than on loopback (status.host) it asks for TIEOUT_STATUS_TOKEN.",
      "Events are received on webhook.port, proved, kept and then acknowledged; what they name is read and booked at once.",
      "Ends with 0 on SIGTERM or SIGINT, after at most ten seconds. The log is JSON unless it is read on a terminal.",
    ],
    options: {
      "--no-webhook": "Without the public listener for events.",
      "--status-port N": "Where the private server listens, instead of status.port; 0: any free port.",
    },
    examples: [
      ["tieout serve", "until it is interrupted"],
      ["tieout serve --no-webhook --status-port 9000", "only the schedule and the status page"],
    ],
  },
  webhook: {
    usage:
      "tieout webhook (events [--connection NAME] [--state S] [--limit N] | replay (ID… | --dead) [--connection NAME] | diagnose FILE --key FILE)",
    summary:
      "Look at the events that were received, have them processed again, find out how they are signed.",
    about: [
      "events lists what was received, the latest first; one that came with several bodies is also a finding, which a full",
      "sync settles. One that names nothing that is known (an unknown type, say) has everything new looked at, and its note",
      "says so. replay sets events back to waiting; the listener's process takes them up. diagnose takes a captured delivery",
      "(the request's headers, an empty line and its body, or JSON with headers and body) and the public key, and prints the",
      "settings by which its signature is good; it asks nobody, and ends with 1 where there are none.",
    ],
    options: {
      [connection]: onlyThis,
      "--state S":
        "Only events that are waiting, done, failed (tried again later), dead (given up) or poison (unreadable).",
      "--limit N": "events: how many, the latest first; default: 100.",
      "--dead": "All events that were given up.",
      "--key FILE": "The public key: PEM, base64 of its DER, a JWK, or the service's list of public keys.",
    },
    examples: [
      ["tieout webhook events --state dead", "what needs a look"],
      ["tieout webhook replay --dead", "once the cause is gone"],
      ["tieout webhook diagnose delivery.http --key key.pem", "where every delivery is refused with 401"],
    ],
  },
  sandbox: {
    usage:
      "tieout sandbox [--port N] [--seed N] [--accounts N] [--entries N] [--clients N] [--accounts-per-client N] [--client-entries N] [--receivables N] [--from DATE] [--to DATE] [--faults F[,F…]] [--names WHICH] [--webhook URL] [--webhook-algorithm A] [--rate N]",
    summary: "Serve an imitation of the partner's service on this machine.",
    about: [
      "The same seed gives the same data. It prints the variables that point Tieout to it, and runs until interrupted.",
      "Faults: limit (requests a second), unavailable, reset, truncate, slow, expire-token, expire-cursor, repeat, change and",
      "redirect (in percent of requests). POST /control/faults?set=… changes them while it runs, POST /control/advance?movements=N",
      "lets more happen (&client=K to one client, &late=DAYS with times so long ago), POST /control/receivables?index=K&to=… moves a receivable on.",
      "With --webhook it sends signed events for what happens. POST /control/webhooks?set=duplicates,reorder,drop,tamper (each",
      "with :PERCENT if need be) sends them badly, POST /control/webhooks/rotate changes the key, POST /control/rate?movements=N",
      "lets N movements a second happen by themselves, POST /control/destinations?index=K&to=STATUS moves an address book entry on.",
    ],
    options: {
      "--port N": "Where it listens, on 127.0.0.1; default: any free port.",
      "--seed N": "Which data; default: 1.",
      "--accounts N": "How many accounts of the organization; default: 12.",
      "--entries N": "How many statement entries over all of them; default: 2000.",
      "--clients N":
        "How many represented clients, up to 10000; of ten or more, one in ten is not active. Default: 0.",
      "--accounts-per-client N": "How many accounts each client has; default: 4.",
      "--client-entries N":
        "How many statement entries over all clients together; default: 20 for each account.",
      "--receivables N": "How many receivables, with the credit accounts that follow from them; default: 0.",
      "--from DATE": "First day with movements; default: 2026-09-01.",
      "--to DATE": "Last day with movements; default: 2026-10-31.",
      "--faults F[,F…]":
        "What goes wrong: none, wild (all that passes), or names with a rate if need be, as in unavailable:2,limit:20. Default: none.",
      "--names WHICH":
        "plain, or odd: other parameters, fields and paths where the interface does not show them. Default: plain.",
      "--webhook URL":
        "Where signed events go, such as http://127.0.0.1:8787/webhooks/default; default: nowhere.",
      "--webhook-algorithm A": "ES256, ES384, EdDSA, RS256, RS512, PS256 or PS512; default: ES256.",
      "--rate N": "Movements that happen by themselves every second, up to 1000; default: 0.",
    },
    examples: [
      ["tieout sandbox --port 8700 --entries 10000", "in one shell, tieout sync in another"],
      ["tieout sandbox --clients 200 --receivables 50 --faults wild", "every surface, in any weather"],
    ],
  },
  demo: {
    usage: "tieout demo",
    summary: "The whole way on made-up data: sync, reconcile, export, verify, report.",
    about: [
      "Starts a sandbox in a process of its own and an embedded database in data/demo, which it empties first.",
      "Your own database and settings are not touched.",
    ],
    options: {},
    examples: [["npm run demo", "the same, from a checkout"]],
  },
  completions: {
    usage: "tieout completions SHELL",
    summary: "Print completions for a shell: bash, zsh or fish.",
    about: [
      "They propose the commands and options of this version, the values that are known beforehand, and files elsewhere.",
    ],
    options: {},
    examples: [
      ["source <(tieout completions bash)", "in ~/.bashrc"],
      ["tieout completions fish > ~/.config/fish/completions/tieout.fish", "once"],
    ],
  },
} as const satisfies Record<string, CommandManual>

/** Options that every command takes, before or after its name. */
export const globalOptions: Readonly<Record<string, string>> = {
  "--json": "One JSON document on stdout; the log goes to stderr, as JSON too.",
  "--config FILE": "The settings file; default: config/tieout.yaml, if it is there.",
  "--log-level LEVEL": "trace, debug, info, warning, error or none; default: info.",
  "--help": "This text, or that of one command.",
  "--version": "The version.",
}

export const exitCodeTexts: ReadonlyArray<readonly [code: string, what: string]> = [
  ["0", "done"],
  ["1", "failed"],
  ["2", "usage or settings"],
  ["3", "done, with quarantine or blocking findings"],
  ["4", "another sync of that connection runs"],
  ["75", "stopped early; run it again to go on"],
]

export const variableTexts: ReadonlyArray<readonly [name: string, what: string]> = [
  ["TIEOUT_BASE_URL", "the service's base address, ends in /api/v1"],
  ["TIEOUT_CLIENT_ID", "the issued OAuth client identifier"],
  ["TIEOUT_CLIENT_SECRET", "the issued OAuth client secret"],
  ["TIEOUT_SCOPE", "the issued scopes, separated by spaces"],
  ["TIEOUT_<NAME>_…", "the same four for a connection named <name>"],
  ["DATABASE_URL", "a Postgres of your own (15 or later); default: an embedded one"],
  ["TIEOUT_DATA_DIR", "the embedded database's data; default: ./data"],
  ["TIEOUT_STATUS_TOKEN", "what opens the status page where it is not only on this machine"],
  ["TIEOUT_USER", "who closes, reopens, reclassifies and exports; default: the user of the operating system"],
  ["TIEOUT_CONFIG", "the settings file, as --config"],
  ["TIEOUT_LOG_LEVEL", "as --log-level"],
  ["TIEOUT_LOG", "json: the log as JSON lines; line: as text, also of serve"],
  ["NO_COLOR", "no colours"],
]
