import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './support/processes.js'

/** The text of all messages of the package, those that are written in parts put together. */
function messagesOfSource(): string {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const texts = files
    .filter((file) => /\.[jt]s$/.test(file))
    .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  return texts
    .join('\n')
    .replaceAll(/['"`] \+\s+['"`]/g, '')
    .replaceAll("\\'", "'")
}

const page = readFileSync(join(root, 'docs/troubleshooting.md'), 'utf8')
const headings = [...page.matchAll(/^### `(.+)`$/gm)].map(([, heading = '']) => heading)
const source = messagesOfSource()

test('every entry of docs/troubleshooting.md is a message', () => {
  assert.equal(headings.length, page.match(/^### /gm)?.length)
})

for (const heading of headings)
  test(`the program has the message of docs/troubleshooting.md: ${heading}`, () => {
    const missing = heading.split('...').filter((part) => !source.includes(part.trim()))
    assert.deepEqual(missing, [])
  })
