// What somebody writes against an API of Sequitur, with the types that openapi-typescript makes of its document: ./api.js.
import createClient from 'openapi-fetch'
import { pages } from 'sequitur/cursor'
import type { components, paths } from './api.js'

type Hero = components['schemas']['HeroModel']
type Problem = components['schemas']['Problem']

const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' })

async function pageAt(next_cursor?: string) {
  const query = { limit: 5, ...(next_cursor === undefined ? {} : { next_cursor }) }
  const { data, error } = await client.GET('/cursor/heros', { params: { query } })
  if (error) throw new Error(error.title)
  return data
}

async function byOffset(limit: number): Promise<Hero[]> {
  const heroes: Hero[] = []
  for (let total = Infinity; heroes.length < total;) {
    const { data, error } = await client.GET('/heros', { params: { query: { offset: heroes.length, limit } } })
    if (error) throw new Error(error.title)
    heroes.push(...data.data)
    total = data.meta.total_items
  }
  return heroes
}

async function oldestFirst(): Promise<string[]> {
  const names: string[] = []
  for await (const hero of pages(pageAt)) names.push(`${hero.name.toUpperCase()}, ${hero.age.toFixed()}`)
  return names
}

async function nameOf(hero_id: number): Promise<string> {
  const { data, error, response } = await client.GET('/heros/{hero_id}', { params: { path: { hero_id } } })
  return data ? data.data.name : `${response.status} ${said(error)}`
}

async function create(hero: components['schemas']['HeroInput']): Promise<string> {
  const { data, error, response } = await client.POST('/heros', { body: hero })
  return data ? `${response.status} ${data.data.name}` : `${response.status} ${said(error)}`
}

function said(problem: Problem): string {
  const issues = 'errors' in problem ? (problem.errors ?? []) : []
  return [problem.detail, ...issues.map((issue) => `${issue.in}${issue.path} ${issue.message}`)].join('; ')
}

async function refused(query: { limit?: number; offset?: number }): Promise<string> {
  const { error, response } = await client.GET('/heros', { params: { query } })
  return error ? `${response.status} ${said(error)}` : 'not refused'
}

const robin = { name: 'Robin', secret_identity: 'Tim Drake', age: 17 }
console.log(
  JSON.stringify({
    listed: (await byOffset(5)).map(({ name }) => name),
    oldestFirst: await oldestFirst(),
    one: await nameOf(1),
    missing: await nameOf(4711),
    created: await create(robin),
    duplicate: await create(robin),
    refusedBody: await create({ ...robin, age: 1.5 }),
    refusedQuery: await refused({ limit: 1000, offset: -1 }),
  }),
)
