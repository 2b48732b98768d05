import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'

/** The only code block of a page in a language: a configuration that a test runs as the page shows it. */
export function codeBlock(page: string, language: string): string {
  const blocks = [...readFileSync(page, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))]
  assert.equal(blocks.length, 1, `${page} has ${blocks.length} blocks of ${language}`)
  return blocks[0]?.[1] ?? ''
}
