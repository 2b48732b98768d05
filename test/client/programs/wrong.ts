// Each marked line is a mistake that the types find.
import createClient from 'openapi-fetch'
import { pages } from 'sequitur/cursor'
import type { paths } from './api.js'

const client = createClient<paths>({ baseUrl: '' })
const page = await client.GET('/heros', { params: { query: { limit: 5 } } })

export const mistakes = [
  page.data.data, // wrong: it may be an error
  page.data?.meta.next_cursor, // wrong: it is a page by offset
  page.data?.data[0]?.title, // wrong: a hero has no title
  page.data?.data.map(({ age }) => age.length), // wrong: an age is a number
  page.error?.title.toFixed(), // wrong: a title is a text
  await client.GET('/villains'), // wrong: there is no such path
  await client.GET('/heros', { params: { query: { limit: 'five' } } }), // wrong: a limit is a number
  await client.GET('/heros', { params: { query: { next_cursor: 'a' } } }), // wrong: it is paged by offset
  await client.GET('/heros/{hero_id}'), // wrong: which hero?
  await client.POST('/heros', { body: { name: 'Robin' } }), // wrong: the rest of the hero is missing
  await client.DELETE('/heros'), // wrong: there is no such method
  pages(async () => (await client.GET('/heros')).data ?? null), // wrong: it has no cursor
]
