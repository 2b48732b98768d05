import { pgClientOf } from '../../../drivers/pg.js'

/** Where a server that accepts writes is in the history of its cluster. Each promotion begins a timeline with a greater number. */
interface Timeline {
  /** The identifier of the cluster: another one, as after an upgrade, has a history of its own. */
  readonly cluster: string
  readonly number: number
}

/** The age of a server, compared with those that were seen before. */
export type Age = 'first' | 'same' | 'newer' | 'older'

/**
 * Remembers the newest timeline that was seen. A former primary that comes back, and does not know that another server has been promoted, accepts
 * writes that the new primary never gets: their timelines differ.
 */
export class NewestTimeline {
  #newest: Timeline | undefined

  /** Undefined for a server that does not report it, such as CockroachDB. */
  async ageOf(connection: object): Promise<Age | undefined> {
    const timeline = await timelineOf(connection)
    if (!timeline) return undefined
    const before = this.#newest
    const age = !before || before.cluster !== timeline.cluster ? 'first' : compare(timeline.number, before.number)
    if (age !== 'older') this.#newest = timeline
    return age
  }
}

function compare(number: number, before: number): Age {
  if (number === before) return 'same'
  return number > before ? 'newer' : 'older'
}

// Not that of the last checkpoint: a server is promoted some time before it writes one.
const ASK = `SELECT (SELECT system_identifier FROM pg_control_system())::text AS cluster,
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline`

function timelineOf(connection: object): Promise<Timeline | undefined> {
  return new Promise((resolve, reject) =>
    pgClientOf(connection).query(ASK, (error, result) => {
      if (error) return 'code' in error ? resolve(undefined) : reject(error) // without a code: the connection was lost
      const [{ cluster, timeline } = {}] = result.rows as readonly { cluster?: string; timeline?: string }[]
      resolve(cluster && timeline ? { cluster, number: Number.parseInt(timeline, 16) } : undefined)
    }),
  )
}
