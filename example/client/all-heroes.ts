// The types are generated: npx openapi-typescript http://127.0.0.1:8000/openapi.json -o api.d.ts
import createClient from 'openapi-fetch'
import { pages } from 'sequitur/cursor'
import type { paths } from './api.js'

const client = createClient<paths>({ baseUrl: process.argv[2] ?? 'http://127.0.0.1:8000' })

async function fetchPage(next_cursor?: string) {
  const query = { limit: 5, ...(next_cursor === undefined ? {} : { next_cursor }) }
  const { data, error } = await client.GET('/cursor/heros', { params: { query } })
  if (error) throw new Error(error.title)
  return data
}

for await (const hero of pages(fetchPage)) console.log(hero.name.toUpperCase())
