import { type Account, run } from "./Command.ts"
import { EmbeddedError } from "./EmbeddedError.ts"

/** Accounts that a server may run as when we are root, in order of preference. */
const candidates = ["postgres", "nobody"]

const idOf = async (flag: "-u" | "-g", name: string): Promise<number | undefined> => {
  const { code, output } = await run("id", [flag, name], { cwd: "/" })
  return code === 0 && /^\d+$/.test(output) ? Number.parseInt(output, 10) : undefined
}

/**
 * The account that the server runs as: `undefined` (ourselves) for an ordinary user, and an ordinary account for root,
 * because Postgres refuses to run as root.
 */
export const serverAccount = async (): Promise<Account | undefined> => {
  if (process.getuid?.() !== 0) return undefined
  for (const name of candidates) {
    const [uid, gid] = await Promise.all([idOf("-u", name), idOf("-g", name)])
    if (uid !== undefined && gid !== undefined && uid !== 0) return { name, uid, gid }
  }
  throw new EmbeddedError({
    reason: "CannotRun",
    message:
      `Postgres does not run as root, and this machine has none of the accounts ${candidates.join(", ")} to run it as. ` +
      "Run Tieout as an ordinary user, add a user named postgres, or set DATABASE_URL to a server of your own.",
  })
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
