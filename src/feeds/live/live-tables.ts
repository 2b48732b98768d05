import { randomUUID } from 'node:crypto'
import type { Sequelize } from 'sequelize'
import type { ChangedRows, RowsOfTable } from '../../db/events/table-use.js'
import { type NoticeSubscription, onNotices } from '../../db/own-tables/notices.js'
import { NoticeChannel } from '../../db/own-tables/notify.js'
import { OwnDatabase } from '../../db/own-tables/own-database.js'
import { ALL_TABLES } from '../../db/sql/statement-tables.js'
import { toChangedRows, toSubject } from './notice-subjects.js'
import { NO_RELATIONS, readRelatedTables } from './related-tables.js'
import { TableWatch } from './table-watch.js'

/** Something that is told when rows of its tables may have changed. */
export interface TableFollower {
  readonly rows: readonly RowsOfTable[]
  onChange(): void
}

const CHANNEL = new NoticeChannel('sequitur_live')

/** Milliseconds between two looks at the tables: where other processes send notices, and where they do not. */
const LOOK_WITH_NOTICES = 5_000
const LOOK = 1_000
/** Milliseconds after which followers are told of a change that another one, which was announced, may have hidden. */
const SAFETY = 30_000
const SAFETY_WITHOUT_NOTICES = 5_000
/** Milliseconds for which the relations of the tables are taken for the same, and for which the first follower waits for the notices. */
const RELATIONS_AGE = 60_000
const NOTICES_WAIT = 300
/** For how many tables and owners the last change is kept. */
const MOST_CHANGES = 10_000

/** Tells the followers of the tables of one database, in this process, when committed transactions have changed them. */
export class LiveTables {
  readonly #database: OwnDatabase
  /** Its name in notices, and in positions. A program may open a database twice. */
  readonly #name = randomUUID()
  readonly #followers = new Map<string, Set<TableFollower>>()
  #count = 0
  /** Counts the changes. */
  #last = 0
  /** Changes before this one are not known. */
  #floor = 0
  /** The number of the last change, by the table and the owner. */
  readonly #changes = new Map<string, number>()
  /** Of the time in which there are followers. */
  #watch: TableWatch
  #relations = NO_RELATIONS
  #relationsReadAt = Number.NEGATIVE_INFINITY
  #relationsRead: Promise<void> | undefined
  #notices: NoticeSubscription | undefined
  #opened: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #beginning: Promise<void> | undefined

  constructor(sequelize: Sequelize) {
    this.#database = new OwnDatabase(sequelize)
    this.#watch = new TableWatch(this.#database)
  }

  /** The position among the changes: see {@link hasChangedSince}. Unlike those of other processes, and of an earlier start. */
  get position(): string {
    return `${this.#name}.${this.#last}`
  }

  /** Whether rows may have changed since a position, as a client has it. */
  hasChangedSince(position: string, rows: readonly RowsOfTable[]): boolean {
    const [name, digits = ''] = position.split('.')
    const since = /^\d{1,15}$/.test(digits) ? Number(digits) : -1
    if (name !== this.#name || since < this.#floor || since > this.#last) return true
    return rows.some(({ table, owner }) => this.#changesOf(table, owner).some((change) => change > since))
  }

  #changesOf(table: string, owner: string | undefined): readonly number[] {
    const ofAll = this.#changes.get(keyOf(table, undefined)) ?? 0
    if (owner !== undefined) return [ofAll, this.#changes.get(keyOf(table, owner)) ?? 0]
    return [this.#changes.get(`${table}\n*`) ?? 0]
  }

  /** Tells the follower of changes from now on. Resolves when it is told of all that are made later, by whom ever. */
  async follow(follower: TableFollower): Promise<void> {
    for (const { table } of follower.rows) {
      const all = this.#followers.get(table) ?? new Set()
      this.#followers.set(table, all.add(follower))
    }
    if (this.#count++ === 0) this.#beginning = this.#begin()
    await this.#beginning
    await this.#readRelations()
    await this.#watch.begin(this.#watchedOf(follower.rows.map(({ table }) => table)))
  }

  unfollow(follower: TableFollower): void {
    for (const { table } of follower.rows) {
      const all = this.#followers.get(table)
      all?.delete(follower)
      if (all?.size === 0) this.#followers.delete(table)
    }
    if (--this.#count === 0) this.#end()
  }

  #begin(): Promise<void> {
    const opened = new Promise<void>((resolve) => (this.#opened = resolve))
    this.#notices = onNotices(this.#database.sequelize, CHANNEL, {
      onNotice: (subjects) => this.#onNotice(subjects),
    })
    this.#lookLater()
    if (this.#database.dialect !== 'postgres') return Promise.resolve()
    const waited = new Promise<void>((resolve) => setTimeout(resolve, NOTICES_WAIT).unref())
    return Promise.race([opened, waited])
  }

  // Changes from now on are not seen.
  #end(): void {
    this.#notices?.close()
    this.#notices = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#changes.clear()
    this.#watch = new TableWatch(this.#database)
    this.#floor = ++this.#last
  }

  /** A transaction of this process was committed. */
  committed(changed: readonly ChangedRows[]): void {
    this.#announce(changed)
    CHANNEL.notify(this.#database, [`@${this.#name}`, ...changed.map(toSubject)])
  }

  #onNotice(subjects: readonly string[] | undefined): void {
    this.#opened?.()
    if (!subjects) return this.#change([{ table: ALL_TABLES, owner: undefined }])
    if (!subjects.includes(`@${this.#name}`)) this.#announce(subjects.flatMap(toChangedRows))
  }

  #announce(changed: readonly ChangedRows[]): void {
    if (this.#count === 0) return
    const rows = changed.flatMap(({ table, owner, deletes }) =>
      [...this.#relations.changedWith(table, deletes)].map((related) => ({ table: related, owner })),
    )
    this.#watch.announce(rows.map(({ table }) => table))
    this.#change(rows)
  }

  #change(rows: readonly RowsOfTable[]): void {
    if (this.#count === 0) return
    this.#last++
    if (this.#changes.size > MOST_CHANGES) {
      this.#changes.clear()
      this.#floor = this.#last
    }
    for (const { table, owner } of rows) {
      const tables = table === ALL_TABLES ? [...this.#followers.keys()] : [table]
      if (table === ALL_TABLES) this.#floor = this.#last
      for (const one of tables) this.#changeOne(one, owner)
    }
  }

  #changeOne(table: string, owner: string | undefined): void {
    this.#changes.set(keyOf(table, owner), this.#last)
    this.#changes.set(`${table}\n*`, this.#last)
    for (const follower of this.#followers.get(table) ?? [])
      if (owner === undefined || follower.rows.some((rows) => isAbout(rows, table, owner))) follower.onChange()
  }

  #readRelations(): Promise<void> | undefined {
    const now = performance.now()
    if (now - this.#relationsReadAt < RELATIONS_AGE) return this.#relationsRead
    this.#relationsReadAt = now
    const reading = readRelatedTables(this.#database).then(
      (relations) => void (this.#relations = relations),
      () => {}, // for an account that may not read the catalog: the tables are looked at, too
    )
    return (this.#relationsRead = reading)
  }

  /** The tables whose states show whether those that are followed have changed. */
  #watchedOf(tables: Iterable<string>): readonly string[] {
    return [...new Set([...tables].flatMap((table) => [...this.#relations.sourcesOf(table)]))]
  }

  #lookLater(): void {
    const pause = this.#notices?.isOpen() ? LOOK_WITH_NOTICES : LOOK
    this.#timer = setTimeout(() => void this.#look(), pause).unref()
  }

  async #look(): Promise<void> {
    const timer = this.#timer
    const unexplained = await this.#watch.look(
      this.#watchedOf(this.#followers.keys()),
      this.#notices?.isOpen() ? SAFETY : SAFETY_WITHOUT_NOTICES,
    )
    if (timer !== this.#timer) return // it has ended meanwhile
    const stale = unexplained.flatMap((table) => [...this.#relations.changedWith(table, false)])
    if (stale.length > 0) this.#change(stale.map((table) => ({ table, owner: undefined })))
    this.#lookLater()
  }
}

function keyOf(table: string, owner: string | undefined): string {
  return owner === undefined ? table : `${table}\n=${owner}`
}

function isAbout({ table, owner }: RowsOfTable, changed: string, ofOwner: string): boolean {
  return table === changed && (owner === undefined || owner === ofOwner)
}

const known = new WeakMap<Sequelize, LiveTables>()

/** The tables of a database, of which followers are told. */
export function liveTablesOf(sequelize: Sequelize): LiveTables {
  const tables = known.get(sequelize) ?? new LiveTables(sequelize)
  known.set(sequelize, tables)
  return tables
}
