/** The service as a state machine: its state after the events so far. Shares no code with `src` or its sandbox. */
import { decimal, units } from "./Decimals.ts"
import type { Time } from "./Facts.ts"
import type {
  Access,
  BookName,
  Event,
  HistorySettings,
  Name,
  ResourceContent,
  Said,
  Spoiled,
} from "./History.ts"
import type { IdOf } from "./Identifiers.ts"

export interface WorldEntry {
  readonly name: Name
  readonly id: string
  readonly type: "CREDIT" | "DEBIT"
  readonly amount: bigint
  readonly occurredAt: Time
  related: { readonly type: string; readonly of: Name } | null
  malformed: boolean
  /** The identifier that is sent; another entry's where the service mixes them up. */
  shownId: string
}

export interface WorldAccount {
  readonly name: Name
  readonly id: string
  readonly book: BookName
  readonly currency: string
  readonly rail: string
  /** The balance before the first entry that is shown. */
  opening: bigint
  readonly entries: Array<WorldEntry>
  /** Epoch milliseconds, by the service's clock. */
  readonly createdAt: number
  access: Access
  /** Since when it has been served without a break, in epoch milliseconds by the service's clock. */
  servedSince: number
}

export interface WorldResource {
  readonly name: Name
  readonly id: string
  readonly book: BookName
  content: ResourceContent
  status: string
  readonly transactionHash: string | null
  readonly createdAt: Time
  readonly said: Said
  hidden: boolean
  spoiled: Spoiled | null
}

export type WorldReceivable = Extract<Event, { readonly what: "receivable" }> & { readonly id: string }

/** A page that was served: of which list, when (epoch milliseconds by the service's clock), and whether it was the last. */
export interface Served {
  readonly stream: string
  readonly at: number
  readonly last: boolean
  /** The items as they were sent, only for receivables and statements. */
  readonly items: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** A page, and whether the read that it belongs to came to its end. */
interface Noted extends Served {
  kept: boolean | null
}

/** What the connector was shown by a time. */
export interface Told {
  readonly readToEnd: ReadonlyArray<readonly [stream: string, at: number]>
  readonly shown: ReadonlyArray<readonly [stream: string, keys: ReadonlyArray<string>]>
  readonly lent: ReadonlyArray<Noted>
  readonly read: ReadonlyArray<string>
}

export interface WorldClient {
  readonly name: Name
  readonly id: string
  status: string
  access: Access
}

const rails: Readonly<Record<string, string>> = { USD: "SWIFT", EUR: "SEPA", USDT: "TRON", USDC: "AVALANCHE" }
const railOf = (currency: string): string => rails[currency] ?? "SWIFT"

const signed = ({ amount, type }: WorldEntry): bigint => (type === "CREDIT" ? amount : -amount)

/** The balance after every entry, in order. */
export const balances = ({ entries, opening }: WorldAccount): ReadonlyArray<bigint> => {
  let running = opening
  return entries.map((entry) => {
    running += signed(entry)
    return running
  })
}

export const balanceOf = (account: WorldAccount): bigint => balances(account).at(-1) ?? account.opening

export class World {
  readonly accounts = new Map<Name, WorldAccount>()
  readonly resources = new Map<Name, WorldResource>()
  readonly receivables = new Map<Name, WorldReceivable>()
  readonly clients = new Map<Name, WorldClient>()
  /**
   * When a list's last page was served last, or of one that begins with the newest item a page of which everything was known, epoch
   * milliseconds by the service's clock: `org accounts`, `k1 statement <id>`.
   */
  readonly readToEnd = new Map<string, number>()
  /** The items of each list that were served before. */
  private readonly shown = new Map<string, Set<string>>()
  /** Every page of receivables that was served. */
  readonly lent: Array<Noted> = []
  /** Identifiers of entries that were read for certain. */
  private readonly read = new Set<string>()
  private readonly open: Array<Noted> = []
  /** Called for every page that is served. */
  onServed: (served: Served) => void = () => undefined
  /** Cursors of an earlier epoch are refused. */
  epoch = 0
  /** The number of requests until one fails, and how; the next failure comes first. */
  readonly faults: Array<{ readonly reason: Extract<Event, { what: "fault" }>["reason"]; after: number }> = []
  /** The service's clock, epoch milliseconds. */
  now = 0

  /** Rows of a page. */
  pageSize: number

  readonly settings: HistorySettings
  readonly idOf: IdOf

  constructor(settings: HistorySettings, idOf: IdOf) {
    this.settings = settings
    this.pageSize = settings.pageSize
    this.idOf = idOf
  }

  entry(name: Name): { readonly account: WorldAccount; readonly entry: WorldEntry } | undefined {
    for (const account of this.accounts.values()) {
      const entry = account.entries.find((one) => one.name === name)
      if (entry !== undefined) return { account, entry }
    }
    return undefined
  }

  /** The identifier that a transaction goes by: an entry's, a resource's or its hash. */
  transactionId(of: Name, byId: boolean): string {
    const resource = this.resources.get(of)
    if (resource !== undefined) return byId ? resource.id : (resource.transactionHash ?? resource.id)
    return this.entry(of)?.entry.id ?? this.idOf(`tx ${of}`)
  }

  private account(content: ResourceContent): WorldAccount | undefined {
    return this.accounts.get(content.type === "CONVERSION" ? content.sell : content.account)
  }

  private post(event: Extract<Event, { what: "entry" }>, at: Time): void {
    const account = this.accounts.get(event.account)
    if (account === undefined) return
    account.entries.push({
      name: event.entry,
      id: this.idOf(event.entry),
      type: event.type,
      amount: units(event.amount, account.currency),
      occurredAt: event.occurredAt ?? at,
      related: event.related,
      malformed: false,
      shownId: this.idOf(event.entry),
    })
  }

  private find(event: Extract<Event, { what: "older" }>): void {
    const account = this.accounts.get(event.account)
    if (account === undefined || account.entries.length === 0) return
    const amount = units(event.amount, account.currency)
    const { entry: name, occurredAt, type } = event
    account.opening -= type === "CREDIT" ? amount : -amount
    account.entries.unshift({
      name,
      id: this.idOf(name),
      type,
      amount,
      occurredAt,
      related: null,
      malformed: false,
      shownId: this.idOf(name),
    })
  }

  private put(event: Extract<Event, { what: "resource" }>, at: Time): void {
    const account = this.account(event.content)
    const { content } = event
    if (account === undefined || (content.type === "CONVERSION" && !this.accounts.has(content.buy))) return
    this.resources.set(event.resource, {
      name: event.resource,
      id: this.idOf(event.resource),
      book: account.book,
      content,
      status: event.status,
      transactionHash: event.transactionHash ?? null,
      createdAt: at,
      said: event.said ?? {},
      hidden: event.hidden ?? false,
      spoiled: null,
    })
  }

  private change(name: Name, how: (resource: WorldResource) => void): void {
    const resource = this.resources.get(name)
    if (resource !== undefined) how(resource)
  }

  apply(event: Event, at: Time): void {
    this.now = Math.max(this.now, Date.parse(at))
    switch (event.what) {
      case "account": {
        if (event.book !== "org" && !this.clients.has(event.book)) return
        this.accounts.set(event.account, {
          name: event.account,
          id: this.idOf(event.account),
          book: event.book,
          currency: event.currency,
          rail: railOf(event.currency),
          opening: units(event.opening, event.currency),
          entries: [],
          createdAt: this.now,
          access: "served",
          servedSince: this.now,
        })
        return
      }
      case "entry":
        this.post(event, at)
        return
      case "zero":
        this.post({ ...event, what: "entry", type: "CREDIT", amount: "0", related: null }, at)
        return
      case "older":
        this.find(event)
        return
      case "resource":
        this.put(event, at)
        return
      case "status":
        this.change(event.resource, (one) => {
          one.status = event.status
        })
        return
      case "fee":
        this.change(event.resource, (one) => {
          if (one.content.type !== "CONVERSION") one.content = { ...one.content, fee: event.fee }
        })
        return
      case "shown":
        this.change(event.resource, (one) => {
          one.hidden = false
        })
        return
      case "enriched": {
        const found = this.entry(event.entry)
        if (found !== undefined && found.entry.related === null) found.entry.related = event.related
        return
      }
      case "malformed":
      case "mended": {
        const found = this.entry(event.entry)
        if (found === undefined) return
        found.entry.malformed = event.what === "malformed"
        if (event.what === "mended") found.entry.shownId = found.entry.id
        return
      }
      case "misnamed":
        this.misname(event.entry, event.as)
        return
      case "spoiled":
      case "restored":
        this.change(event.resource, (one) => {
          one.spoiled = event.what === "spoiled" ? event.how : null
        })
        return
      case "receivable":
        this.receivables.set(event.receivable, { ...event, id: this.idOf(event.receivable) })
        return
      case "client": {
        const known = this.clients.get(event.client)
        if (known !== undefined) known.status = event.status
        else {
          const { client: name, status } = event
          this.clients.set(name, { name, id: this.idOf(name), status, access: "served" })
        }
        return
      }
      case "access": {
        const account = this.accounts.get(event.of)
        const found = account ?? this.clients.get(event.of)
        if (found !== undefined) found.access = event.access
        if (account !== undefined && event.access === "served") account.servedSince = this.now
        return
      }
      case "expired":
        this.epoch += 1
        return
      case "pages":
        this.pageSize = event.rows
        return
      case "fault":
        this.faults.push({ reason: event.reason, after: event.after })
        return
      case "nothing":
        return
    }
  }

  /** Called for every request: whether this one fails. */
  faultNow(): { readonly reason: Extract<Event, { what: "fault" }>["reason"] } | undefined {
    const [next] = this.faults
    if (next === undefined) return undefined
    next.after -= 1
    if (next.after > 0) return undefined
    this.faults.shift()
    return next
  }

  /** Whether all of the items were served before, and the list to its end once; now they were. */
  haveShown(stream: string, items: ReadonlyArray<{ readonly key: string }>): boolean {
    const known = this.shown.get(stream) ?? new Set()
    this.shown.set(stream, known)
    const all = this.readToEnd.has(stream) && items.every(({ key }) => known.has(key))
    for (const { key } of items) known.add(key)
    return all
  }

  /** Records a page that was served, by this process or another. */
  note(served: Served): void {
    const { at, last, stream } = served
    if (last) this.readToEnd.set(stream, Math.max(at, this.readToEnd.get(stream) ?? 0))
    const noted = { ...served, kept: null }
    this.open.push(noted)
    if (stream === "org receivables") this.lent.push(noted)
    this.onServed(served)
  }

  /** Records whether the reads since the last call came to their end; else served pages may not have been kept. */
  settle(kept: boolean): void {
    const served = this.open.splice(0)
    const refused = new Set(
      served.flatMap(({ items, stream }) => (items.some((item) => this.isAnothers(item)) ? [stream] : [])),
    )
    for (const noted of served) {
      noted.kept = kept
      if (!kept || refused.has(noted.stream)) continue
      for (const { entryId } of noted.items) if (typeof entryId === "string") this.read.add(entryId)
    }
  }

  /** Whether an entry went by the identifier of an entry on another account: nothing of such an answer is kept. */
  private isAnothers({ accountId, entryId }: Served["items"][number]): boolean {
    const account = [...this.accounts.values()].find(({ id }) => id === accountId)
    return account !== undefined && !account.entries.some(({ id }) => id === entryId)
  }

  /** What the connector was shown so far. Of a read that is not over, nothing is known to be kept. */
  get told(): Told {
    return {
      readToEnd: [...this.readToEnd],
      shown: [...this.shown].map(([stream, keys]) => [stream, [...keys]]),
      lent: this.lent.map((noted) => (noted.kept === null ? { ...noted, kept: false } : noted)),
      read: [...this.read],
    }
  }

  /** The connector has forgotten what it was shown since. */
  untell({ lent, read, readToEnd, shown }: Told): void {
    this.readToEnd.clear()
    for (const [stream, at] of readToEnd) this.readToEnd.set(stream, at)
    this.shown.clear()
    for (const [stream, keys] of shown) this.shown.set(stream, new Set(keys))
    this.lent.splice(0, this.lent.length, ...lent)
    this.read.clear()
    for (const id of read) this.read.add(id)
    // Of two entries with one identifier the connector would no longer know which was first.
    for (const { entries } of this.accounts.values()) {
      for (const entry of entries) if (!this.read.has(entry.shownId)) entry.shownId = entry.id
    }
  }

  private misname(name: Name, as: Name): void {
    const [found, other] = [this.entry(name), this.entry(as)]
    if (found === undefined || other === undefined || found.account === other.account) return
    // The other entry was known before, so that this one comes second; and this one was never read with its own identifier.
    const isFree = !this.read.has(found.entry.id) && this.read.has(other.entry.id)
    if (isFree && found.account.book === other.account.book) found.entry.shownId = other.entry.id
  }

  /**
   * The streams of a book that exist and can be read, but were not served to their end since a time. An account that was hidden
   * whenever its list was read cannot be known.
   */
  unreadSince(book: BookName, time: number): ReadonlyArray<string> {
    const client = this.clients.get(book)
    if (client !== undefined && (client.access !== "served" || client.status !== "ACTIVE")) return []
    const listed = this.readToEnd.get(`${book} accounts`) ?? 0
    const statements = [...this.accounts.values()]
      .filter((one) => one.book === book && one.access === "served" && one.createdAt < time)
      .filter(({ id, servedSince }) => servedSince <= listed || this.readToEnd.has(`${book} statement ${id}`))
      .map(({ id }) => `statement ${id}`)
    const lists = book === "org" ? ["accounts", "DEPOSIT", "WITHDRAWAL"] : ["accounts"]
    const lent = book === "org" && this.settings.surfaces.includes("credit") ? ["receivables"] : []
    return [...lists, ...lent, ...statements]
      .map((stream) => `${book} ${stream}`)
      .filter((stream) => (this.readToEnd.get(stream) ?? 0) < time)
  }

  /** The service's clock, as in its answers' dates. */
  get servedAt(): string {
    return new Date(this.now).toISOString()
  }

  text(amount: bigint, currency: string): string {
    return decimal(amount, currency)
  }
}
