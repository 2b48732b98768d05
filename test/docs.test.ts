import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
]

/** A file of the reader's own project. */
const OF_READERS = new Set(['src/app.ts'])

/** The files of this repository that a page names, or links to. */
function filesNamedIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const named = [...text.matchAll(/`((?:src|test|example|bench|scripts|docs)\/[\w./-]*)`/g)].map(
    ([, name = '']) => name,
  )
  const linked = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, name = '']) => join(page, '..', name))
  return [...named, ...linked].filter((name) => !OF_READERS.has(name))
}

for (const page of pages) {
  test(`the files that ${page} names are there`, () => {
    assert.deepEqual(
      filesNamedIn(page).filter((name) => !existsSync(join(root, name))),
      [],
    )
  })
}
