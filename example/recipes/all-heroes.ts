// Prints the names of all heroes of the running example: all-heroes.ts http://127.0.0.1:8000
import { type Page, pages } from 'sequitur/cursor'

const [origin = 'http://127.0.0.1:8000'] = process.argv.slice(2)

async function fetchPage(next_cursor?: string) {
  const query = new URLSearchParams(next_cursor === undefined ? {} : { next_cursor })
  return (await fetch(`${origin}/cursor/heros?${query}`)).json() as Promise<Page<{ name: string }>>
}

for await (const hero of pages(fetchPage)) console.log(hero.name)
