import { LONG_PAGE, PAGE, heroOf, ROWS, type WorkName } from './works.js'

/** A request, and the response that every program must send. */
interface Expectation {
  readonly line: string
  readonly json?: unknown
  readonly status: number
  /** Missing where only the status is compared: the bodies of errors differ. */
  readonly body?: string
}

const hello: Expectation = { line: 'GET /hello', status: 200, body: '{"hello":"world"}' }

function page(offset: number, limit = PAGE): Expectation {
  const size = Math.max(Math.min(limit, ROWS - offset), 0)
  const data = Array.from({ length: size }, (_, index) => heroOf(offset + index + 1))
  const meta = {
    offset,
    total_items: ROWS,
    total_pages: ROWS / limit,
    page_number: Math.floor(offset / limit) + 1,
  }
  return { line: `GET /heros?offset=${offset}&limit=${limit}`, status: 200, body: JSON.stringify({ data, meta }) }
}

function one(id: number): Expectation {
  return { line: `GET /heros/${id}`, status: 200, body: JSON.stringify({ data: heroOf(id) }) }
}

function inputOf(id: number): object {
  const { id: _, ...input } = heroOf(id)
  return input
}

const created = ROWS + 1

const expectations = {
  hello: [hello],
  'hello-database': [hello],
  list: [
    ...[0, 10, 4321, ROWS - PAGE, ROWS - 3, ROWS + 50].map((offset) => page(offset)),
    { line: 'GET /heros?offset=-1', status: 422 },
    { line: 'GET /heros?limit=x', status: 422 },
  ],
  'list-100': [0, 4321, ROWS - LONG_PAGE, ROWS - 3].map((offset) => page(offset, LONG_PAGE)),
  get: [
    ...[1, 4711, ROWS].map(one),
    { line: 'GET /heros/2000000', status: 404 },
    { line: 'GET /heros/x', status: 422 },
  ],
  insert: [
    { line: 'POST /heros', json: { ...inputOf(1), age: undefined }, status: 422 },
    { line: 'POST /heros', json: { ...inputOf(created), age: 1.5 }, status: 422 },
    { line: 'POST /heros', json: { ...inputOf(created), name: undefined }, status: 422 },
    {
      line: 'POST /heros',
      json: inputOf(created),
      status: 201,
      body: JSON.stringify({ data: heroOf(created) }),
    },
    one(created),
    { line: 'POST /heros', json: inputOf(created), status: 409 },
  ],
} satisfies Record<WorkName, readonly Expectation[]>

/** Sends the requests of a work to a program with a new database, and compares its responses. */
export async function verify(port: number, work: WorkName): Promise<void> {
  for (const expectation of expectations[work] as readonly Expectation[]) {
    const { line, json, status, body } = expectation
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      signal: AbortSignal.timeout(10_000),
      ...(json !== undefined && { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } }),
    })
    const actual = await response.text()
    const type = response.headers.get('content-type')
    if (response.status !== status || (body !== undefined && actual !== body))
      throw new Error(`${line}: expected ${status} ${body ?? ''}, got ${response.status} ${actual}`)
    if (body !== undefined && !type?.startsWith('application/json'))
      throw new Error(`${line}: expected application/json, got ${type}`)
  }
}
