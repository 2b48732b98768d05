import type { Answer, Client } from './client.js'
import { outcomeOf } from './client.js'
import type { Ledger } from './ledger.js'
import { COUNTERS } from './models.js'

/** What the clients share. */
export interface World {
  readonly ledger: Ledger
  /** Acknowledged names that no other request has been sent for: they may be deleted. */
  readonly deletable: string[]
  /** An acknowledged key. */
  lastId: number
  newName(): string
}

/** One kind of request, and which statuses it may have beside 503 and 504. */
export interface Action {
  readonly name: string
  readonly weight: number
  readonly expected: readonly number[]
  /** Whether the connection may end without a response. */
  readonly mayEnd?: boolean
  /** @returns the response; a string is what is wrong with it. */
  run(client: Client, world: World): Promise<Answer | string>
}

function below(end: number): number {
  return Math.floor(Math.random() * end)
}

interface ListAnswer {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly next_cursor: string | null }
}

/** Some pages of the newest entries: their keys descend, so that none is there twice. */
async function walk(client: Client): Promise<Answer | string> {
  let before = Number.MAX_SAFE_INTEGER
  let cursor: string | null = ''
  let answer: Answer = { status: 200, text: '' }
  for (let page = 0; page < 5 && cursor !== null; page++) {
    answer = await client.send(`/entries/newest?limit=7${cursor && `&next_cursor=${cursor}`}`)
    if (answer.status !== 200) return answer
    const { data, meta } = JSON.parse(answer.text) as ListAnswer
    for (const { id } of data) {
      if (id >= before) return `the entry ${id} comes after ${before} in a list by cursor`
      before = id
    }
    cursor = meta.next_cursor
  }
  return answer
}

async function insert(client: Client, { ledger, ...world }: World, leavesAfter?: number): Promise<Answer> {
  const name = world.newName()
  const answer = await client.json('POST', '/entries', { name }, leavesAfter === undefined ? {} : { leavesAfter })
  ledger.inserted([name], outcomeOf(answer))
  ledger.calledBack(outcomeOf(answer))
  return answer
}

async function upload(client: Client, { ledger, newName }: World): Promise<Answer> {
  const name = newName()
  const form = new FormData()
  form.set('name', name)
  form.set('content', new Blob([Buffer.alloc(100_000 + below(600_000), name)]), 'content.bin')
  const encoded = new Response(form)
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' }
  const body = Buffer.from(await encoded.arrayBuffer())
  const answer = await client.send('/entries/uploads', { method: 'POST', headers, body, isSlow: below(4) === 0 })
  ledger.inserted([name], outcomeOf(answer))
  return answer
}

export const actions: readonly Action[] = [
  {
    name: 'page by offset',
    weight: 10,
    expected: [200],
    run: (client) => client.send(`/entries?limit=20&offset=${below(200)}`),
  },
  { name: 'pages by cursor', weight: 5, expected: [200], run: walk },
  {
    name: 'one row',
    weight: 20,
    expected: [200, 404],
    run: (client, { lastId }) => client.send(`/entries/${1 + below(lastId + 10)}`),
  },
  {
    name: 'read only',
    weight: 10,
    expected: [200],
    run: (client) => client.send(`/counters/${below(COUNTERS)}`),
  },
  {
    name: 'insert',
    weight: 15,
    expected: [201],
    async run(client, world) {
      const answer = await insert(client, world)
      if (answer.status !== 201) return answer
      const { data } = JSON.parse(answer.text) as { data: { id: number; name: string } }
      world.lastId = data.id
      if (world.deletable.length < 100) world.deletable.push(data.name)
      return answer
    },
  },
  {
    name: 'insert, and leave',
    weight: 3,
    expected: [201],
    mayEnd: true,
    run: (client, world) => insert(client, world, below(10)),
  },
  {
    name: 'increment',
    weight: 10,
    expected: [200],
    async run(client, { ledger }) {
      const id = below(COUNTERS)
      const answer = await client.send(`/counters/${id}`, { method: 'PUT' })
      ledger.incremented(id, outcomeOf(answer))
      return answer
    },
  },
  {
    name: 'delete',
    weight: 5,
    expected: [204],
    async run(client, { ledger, deletable, newName }) {
      const name = deletable.shift()
      if (name === undefined) return client.send(`/entries/named/${newName()}`, { method: 'GET' }).then(notAllowed)
      const answer = await client.send(`/entries/named/${name}`, { method: 'DELETE' })
      ledger.deleted(name, outcomeOf(answer))
      return answer
    },
  },
  {
    name: 'savepoints',
    weight: 5,
    expected: [201],
    async run(client, { ledger, newName }) {
      const name = newName()
      const answer = await client.json('POST', '/entries/nested', { name })
      ledger.inserted([name, `${name}-second`], outcomeOf(answer))
      ledger.inserted([`${name}-undone`], 'refused')
      return answer
    },
  },
  {
    name: 'insert, refused',
    weight: 4,
    expected: [409],
    async run(client, { ledger, newName }) {
      const name = newName()
      ledger.inserted([name], 'refused')
      return client.json('POST', '/entries/refused', { name })
    },
  },
  {
    name: 'invalid',
    weight: 4,
    expected: [422],
    run: (client) => client.json('POST', '/entries', { name: '', id: { $gt: 0 } }),
  },
  { name: 'upload', weight: 2, expected: [201], run: upload },
  {
    name: 'file, read slowly',
    weight: 1,
    expected: [200],
    async run(client) {
      const answer = await client.send('/content', { isSlow: true })
      return answer.status === 200 && answer.text.length !== 1_000_000 ? 'a file was cut' : answer
    },
  },
  {
    name: 'file, left',
    weight: 1,
    expected: [200],
    mayEnd: true,
    run: async (client) => ({ status: await client.readSome('/content', 10_000), text: '' }),
  },
  {
    name: 'events',
    weight: 1,
    expected: [200],
    mayEnd: true,
    run: async (client) => ({ status: await client.readSome('/events', 100), text: '' }),
  },
]

/** As if it were the deletion of something: there was nothing to delete yet. */
function notAllowed(answer: Answer): Answer {
  return answer.status === 405 ? { ...answer, status: 204 } : answer
}

const total = actions.reduce((sum, { weight }) => sum + weight, 0)

export function anyAction(): Action {
  let left = below(total)
  for (const action of actions) if ((left -= action.weight) < 0) return action
  throw new Error('the weights have changed')
}
