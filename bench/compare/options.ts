import { parseArgs } from 'node:util'
import type { DatabaseKind } from '../peers/support/peer.js'
import { WARM_UP, type WorkName, workNames } from './works.js'

export interface Options {
  readonly peers: readonly string[]
  readonly works: readonly WorkName[]
  readonly databases: readonly DatabaseKind[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUp: number
  readonly connections: number
  /** The peer whose CPU profiles are written, instead of a comparison. */
  readonly profile: string | undefined
  readonly json: string
}

const usage = `npm run bench -- [options]
  --peers raw,sequitur       default: all files of bench/peers
  --works list,get           default: list,list-100,get,insert,hello,hello-database
  --databases postgres       postgres, sqlite, mariadb (of TEST_MARIADB_URL); default: postgres
  --rounds 5                 each round measures every program once
  --seconds 4                of each measurement
  --warm-up 20000            responses before it
  --connections 32
  --profile raw              write CPU profiles of one peer to bench/results/profiles, and compare nothing
  --json file                default: bench/results/latest.json`

/** Reads the command line. Prints what is wrong with it, and ends the program. */
export function readOptions(known: readonly string[]): Options {
  try {
    return parse(known)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(1)
  }
}

function parse(known: readonly string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      peers: text,
      works: text,
      databases: text,
      rounds: text,
      seconds: text,
      'warm-up': text,
      connections: text,
      profile: text,
      json: text,
    },
  })
  const databases = ['postgres', 'sqlite', 'mariadb'] as const
  if (values.databases?.includes('mariadb') && !process.env['TEST_MARIADB_URL'])
    throw new Error('Set TEST_MARIADB_URL to the URL of a MariaDB server, with a user who may create databases.')
  return {
    peers:
      values.profile === undefined
        ? listOf('--peers', values.peers, known)
        : listOf('--profile', values.profile, known).slice(0, 1),
    works: listOf('--works', values.works, workNames),
    databases: values.databases === undefined ? ['postgres'] : listOf('--databases', values.databases, databases),
    rounds: values.profile === undefined ? numberOf('--rounds', values.rounds, 5) : 1,
    seconds: numberOf('--seconds', values.seconds, 4),
    warmUp: numberOf('--warm-up', values['warm-up'], WARM_UP, 1_000_000),
    connections: numberOf('--connections', values.connections, 32),
    profile: values.profile,
    json: values.json ?? 'bench/results/latest.json',
  }
}

/** The names after an option; all known ones without it. */
function listOf<T extends string>(option: string, value: string | undefined, known: readonly T[]): readonly T[] {
  if (value === undefined) return known
  return value.split(',').map((name) => {
    const found = known.find((other) => other === name)
    if (found === undefined) throw new Error(`${option}: there is no '${name}'. Choose from: ${known.join(', ')}`)
    return found
  })
}

const LARGEST = 600

function numberOf(option: string, value: string | undefined, standard: number, largest = LARGEST): number {
  const number = value === undefined ? standard : Number(value)
  if (number > 0 && number <= largest) return number
  throw new Error(`${option} is a number from 1 to ${largest}, got '${value}'`)
}
