import { existsSync } from 'node:fs'
import { CommandError } from '../command.js'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** Before the date, where another name begins with a letter. */
const PREFIXES = ['', 'z']

/**
 * `20261125-1042-add-power`: after all files that are there, in whose order a new database is made. It may be of a later minute, or begin with `z`.
 *
 * @throws CommandError if no such name comes after all of them.
 */
export async function fileNameOf(directory: string, name: string): Promise<string> {
  const { byCode, migrationFiles } = await import('../../migrations/run/migration-files.js')
  const others = existsSync(directory) ? migrationFiles(directory).map((file) => file.name) : []
  const last = others.at(-1)
  const wanted = PREFIXES.flatMap((prefix) => candidates(others, prefix)).map((stamp) => `${stamp}-${name}`)
  const found = wanted.find((one) => last === undefined || byCode(one, last) > 0)
  if (found !== undefined) return found
  throw new CommandError(
    `${wanted[0] ?? name} would come before ${last ?? ''}, by its name, on a new database. Give that file, and its row of SequelizeMeta, a name that begins with a date.`,
  )
}

/** Now, the minute after the newest file, and the day after it. */
function candidates(others: readonly string[], prefix: string): string[] {
  const now = Date.now()
  const dates = others.flatMap((name) => dateOf(name, prefix) ?? [])
  const newest = Math.max(now, ...dates)
  const isTaken = dates.some((date) => stampOf(date) === stampOf(now))
  const times = [...(newest > now || isTaken ? [] : [now]), newest + MINUTE, newest + DAY]
  return times.map((time) => `${prefix}${stampOf(time)}`)
}

const DATED = /^(z?)(\d{4})(\d{2})(\d{2})-?(\d{2})(\d{2})/

function dateOf(name: string, prefix: string): number | undefined {
  const [, letter, year, month, day, hour, minute] = DATED.exec(name) ?? []
  if (letter !== prefix) return undefined
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`)
  return Number.isNaN(time) ? undefined : time
}

function stampOf(time: number): string {
  const [day = '', clock = ''] = new Date(time).toISOString().split('T')
  return `${day.replaceAll('-', '')}-${clock.slice(0, 5).replace(':', '')}`
}
