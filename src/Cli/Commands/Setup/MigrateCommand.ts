import { Effect } from "effect"
import { counted } from "../../../Common/Text.ts"
import { describeServer } from "../../../Database/ConnectionSettings.ts"
import { migrate as applyPending } from "../../../Database/Migrate.ts"
import { readPartitions } from "../../../Database/Migrations/Partitions.ts"
import { administratorSql, roleNames, rolesSql } from "../../../Database/RoleStatements.ts"
import { administerRoles, applyRoles } from "../../../Database/Roles.ts"
import { Database } from "../../../Database.ts"
import { runsWorkers } from "../../../Jobs/Boss.ts"
import { makeQueue } from "../../../Jobs/Prepare.ts"
import { ownersDatabase, refuseReaders } from "../../BookEnvironment.ts"
import { partitions, partitionsOf } from "../../CommandOptions.ts"
import { command, flag } from "../../Declaration.ts"
import { Output } from "../../Output.ts"

export const migrate = command(
  {
    name: "migrate",
    summary: "Bring the database's tables up to date.",
    about: [
      "Every command that writes does this by itself. Run it alone before an upgrade, or to check the database. With Node 22.12",
      "or newer it also makes the queue that workers share. --partitions holds for a new database alone; a later change takes",
      "a backup and its restore.",
    ],
    takes: {
      roles: flag(
        "roles",
        "Also make the roles tieout_runtime and tieout_auditor, and print the SQL that does it",
      ),
      partitions,
    },
    examples: [
      ["DATABASE_URL=postgres://… tieout migrate", "prepare a server of your own"],
      ["DATABASE_URL=postgres://… tieout migrate --partitions 16", "for thousands of books"],
      [
        "DATABASE_URL=postgres://owner@… tieout migrate --roles",
        "as the owner, whom nothing else runs as then",
      ],
    ],
  },
  Effect.fn("Cli.migrate")(
    function* ({ partitions: asked, roles }) {
      const output = yield* Output
      const { settings } = yield* Database
      const applied = yield* applyPending(undefined, yield* partitionsOf(asked))
      yield* refuseReaders
      const parts = yield* readPartitions()
      const queue = runsWorkers(process.versions.node)
      if (queue) yield* makeQueue()
      const server = describeServer(settings)
      const sql = rolesSql()
      if (roles) yield* applyRoles()
      const administered = roles && (yield* administerRoles())
      // With the roles the answer is a script for psql: what an administrator is given, and runs.
      const said = (text: string) => (roles ? `-- ${text}` : text)
      yield* output.report({
        document: {
          server,
          applied,
          partitions: parts,
          queue,
          ...(roles ? { roles: { sql, administrator: administratorSql(), administered } } : {}),
        },
        lines: [
          ...applied.map((name) => said(`Applied ${name}`)),
          said(
            applied.length === 0
              ? `${server} is up to date.`
              : `${server} is up to date now, after ${counted(applied.length, "migration")}.`,
          ),
          ...(parts > 1 ? [said(`Its large tables have ${parts} partitions each.`)] : []),
          ...(roles
            ? [
                "",
                ...sql.split("\n"),
                "",
                said(
                  `The roles ${roleNames.runtime} and ${roleNames.auditor} are there. Give them passwords: alter role ${roleNames.runtime} password '…';`,
                ),
                said(
                  administered
                    ? "As a superuser it also ran this, which keeps the values of rows out of the server's log, shows each role when transactions began (for --as-of), and gives locks to who works alone:"
                    : "A superuser should run this, too: it keeps the values of rows out of the server's log, shows each role when transactions began (for --as-of), and gives locks to who works alone:",
                ),
                ...administratorSql().split("\n"),
              ]
            : []),
        ],
      })
    },
    Effect.provide(ownersDatabase),
    // What cannot be asked leaves no new, empty database behind.
    (effect, { partitions: asked }) => Effect.zipRight(partitionsOf(asked), effect),
  ),
)
