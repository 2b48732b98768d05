import type { Database } from '../peers/support/peer.js'

export const ROWS = 10_000
export const PAGE = 10
export const LONG_PAGE = 100
/** Responses before a measurement. By then a request costs what it costs an hour later: see bench/README.md. */
export const WARM_UP = 20_000

export interface Hero {
  readonly name: string
  readonly secret_identity: string
  readonly age: number
  readonly id: number
}

/** The row of an id, as every database is filled, in the order of its properties in responses. */
export function heroOf(id: number): Hero {
  return { name: `hero ${id}`, secret_identity: `man ${id}`, age: id % 90, id }
}

/** What one request asks for. */
export interface Work {
  readonly title: string
  /** Whether the programs open a database. */
  readonly needsDatabase: boolean
  readonly status: number
  /** The n-th request: its request line, and its body. */
  request(n: number): { readonly line: string; readonly body?: string }
}

export const works = {
  list: {
    title: `a page of ${PAGE} of ${ROWS.toLocaleString('en')} rows, with the exact total`,
    needsDatabase: true,
    status: 200,
    request: (n) => ({ line: `GET /heros?offset=${below(ROWS - PAGE + 1, n)}&limit=${PAGE}` }),
  },
  'list-100': {
    title: `a page of ${LONG_PAGE} rows`,
    needsDatabase: true,
    status: 200,
    request: (n) => ({ line: `GET /heros?offset=${below(ROWS - LONG_PAGE + 1, n)}&limit=${LONG_PAGE}` }),
  },
  get: {
    title: 'one row by its id',
    needsDatabase: true,
    status: 200,
    request: (n) => ({ line: `GET /heros/${1 + below(ROWS, n)}` }),
  },
  insert: {
    title: 'validate and insert one row',
    needsDatabase: true,
    status: 201,
    request(n) {
      const { name, secret_identity, age } = heroOf(ROWS + 1 + n)
      return { line: 'POST /heros', body: JSON.stringify({ name, secret_identity, age }) }
    },
  },
  hello: {
    title: 'a constant, in a program without a database',
    needsDatabase: false,
    status: 200,
    request: () => ({ line: 'GET /hello' }),
  },
  'hello-database': {
    title: 'a constant, in a program with an open database',
    needsDatabase: true,
    status: 200,
    request: () => ({ line: 'GET /hello' }),
  },
} satisfies Record<string, Work>

export type WorkName = keyof typeof works
export const workNames = Object.keys(works) as readonly WorkName[] // the keys of the literal above

/** Which of `size` things the n-th request is for: the same for all programs, in no order that a cache could guess. */
function below(size: number, n: number): number {
  const mixed = Math.imul(n ^ (n >>> 16), 0x45d9f3b)
  const again = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return ((again ^ (again >>> 16)) >>> 0) % size
}

export const databaseTitles = {
  postgres: 'PostgreSQL',
  sqlite: 'SQLite',
  mariadb: 'MariaDB',
} satisfies Record<Database['kind'], string>
