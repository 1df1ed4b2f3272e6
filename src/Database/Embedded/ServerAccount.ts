import { type Account, run, sleep } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"

/** The user that the server runs as for root. It has no other use, so that nobody else's programs can touch the data. */
export const accountName = "tieout"

/** Accounts that earlier versions used. They are the distribution's, and other programs run as them, too. */
const formerNames = ["postgres", "nobody"]

/** Where distributions have it; a scheduler's PATH often lacks the folder. */
const useradd = "/usr/sbin/useradd"

const addArguments = [
  ...["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"],
  ...["--shell", "/usr/sbin/nologin", accountName],
]

/** Another process may hold the lock on the users' file, and be adding the same user. */
const attempts = 3

const idOf = async (execute: typeof run, flag: "-u" | "-g", name: string): Promise<number | undefined> => {
  const { code, output } = await execute("id", [flag, name], { cwd: "/" })
  return code === 0 && /^\d+$/.test(output) ? Number.parseInt(output, 10) : undefined
}

const accountOf = async (execute: typeof run, name: string): Promise<Account | undefined> => {
  const [uid, gid] = [await idOf(execute, "-u", name), await idOf(execute, "-g", name)]
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { name, uid, gid }
}

export interface ServerAccount {
  readonly account: Account
  /** Whether the user was made just now. */
  readonly made: boolean
}

/** Why the user could not be added, in a few words. */
const add = async (execute: typeof run): Promise<string> => {
  try {
    const { output } = await execute(useradd, addArguments, { cwd: "/" })
    return output.split("\n", 1)[0] ?? ""
  } catch {
    return `there is no ${useradd}`
  }
}

/**
 * The account that the server runs as: `undefined` (ourselves) for an ordinary user, and the user `tieout` for root, because
 * Postgres refuses to run as root. It is added to the system where it is missing.
 */
export const serverAccount = async (
  uid: number | undefined = process.getuid?.(),
  execute: typeof run = run,
): Promise<ServerAccount | undefined> => {
  if (uid !== 0) return undefined
  const there = await accountOf(execute, accountName)
  if (there !== undefined) return { account: there, made: false }
  let why = ""
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    if (attempt > 1) await sleep(500)
    why = await add(execute)
    const account = await accountOf(execute, accountName)
    if (account !== undefined) return { account, made: true }
  }
  throw new EmbeddedError({
    reason: "NoAccount",
    message:
      `Postgres does not run as root, this machine has no user ${accountName} to run it as, and none could be added` +
      `${why === "" ? "" : ` (${why})`}. Add a system user named ${accountName} that nobody logs in as, ` +
      "or run Tieout as an ordinary user, or set DATABASE_URL to a server of your own.",
  })
}

/** The user numbers of the accounts that earlier versions ran the server as. */
export const formerAccounts = async (): Promise<ReadonlyArray<number>> => {
  const found = await Promise.all(formerNames.map((name) => accountOf(run, name)))
  return found.flatMap((account) => (account === undefined ? [] : [account.uid]))
}

/**
 * Whether the server's account can enter a folder. Asked of the kernel, as that account, since mode bits alone do not
 * tell (parents, ACLs, mounts).
 */
export const canEnter = async (folder: string, account: Account | undefined): Promise<boolean> => {
  if (account === undefined) return true
  const { code } = await run("/bin/sh", ["-c", 'cd "$0"', folder], { cwd: "/", account })
  return code === 0
}

/** Which of these folders the server's account can write, asked in the same way. */
export const writable = async (
  folders: ReadonlyArray<string>,
  account: Account,
): Promise<ReadonlyArray<string>> => {
  const ask = 'for folder; do [ -w "$folder" ] && printf "%s\\0" "$folder"; done; true'
  const { output } = await run("/bin/sh", ["-c", ask, "sh", ...folders], { cwd: "/", account })
  return output.split("\0").filter((folder) => folder !== "")
}
