import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tokenizer } from 'acorn'
import { transformSync } from 'oxc-transform'
import { DECIMAL_TEXT, decimalText, INTEGER_TEXT } from '../src/schema/shape/text-formats.js'
import { patternCost } from '../src/schema/patterns/pattern-cost.js'
import { atLeastPattern, atMostPattern } from '../src/schema/patterns/range-pattern.js'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** What reads nothing but texts of the program and of its environment: SQL, models, documents, stacks, URLs of databases; and texts that are cut off before. */
const OF_THE_PROGRAM: ReadonlySet<string> = new Set([
  'cli/breaking/breaking-changes.ts',
  'cli/upgrade/upgrade-text.ts',
  'core/events/program-location.ts',
  'core/startup-error.ts',
  'core/uninitialized-class.ts',
  'db/models/case-insensitive-pattern.ts',
  'db/config/settings.ts',
  'db/config/url.ts',
  'db/sql/shape.ts', // at most 4,000 characters
  'http/openapi/operation.ts',
  'migrations/models/existing-classes.ts',
  'migrations/models/extended-file.ts',
  'paging/order-items.ts',
  'paging/offset/offset-list.ts',
  'schema/patterns/range-pattern.ts',
])

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|js)$/.test(name))

function expressionsOf(file: string): RegExp[] {
  const { code } = transformSync(file.replace(/\.js$/, '.ts'), readFileSync(join(src, file), 'utf8'), {
    decorator: { legacy: true },
  })
  // The library's type leaves out the value, which of a regular expression is this one.
  const tokens = [...tokenizer(code, { ecmaVersion: 'latest', sourceType: 'module' })] as unknown as readonly {
    readonly type: { readonly label: string }
    readonly value: { readonly value: RegExp }
  }[]
  return tokens.flatMap(({ type, value }) => (type.label === 'regexp' ? [value.value] : []))
}

for (const file of files.filter((name) => !OF_THE_PROGRAM.has(name)).sort()) {
  const expressions = expressionsOf(file)
  if (expressions.length === 0) continue
  test(`the regular expressions of ${file} take time in proportion to a text`, () => {
    for (const expression of expressions) {
      const { degree, parts } = patternCost(expression)
      assert.equal(degree, 1, `${expression} takes the power ${degree} of it, by ${parts.join(' and ')}`)
    }
  })
}

test('regular expressions are found where they are', () => {
  assert.ok(files.flatMap(expressionsOf).length > 80)
})

test('the patterns of numbers take time in proportion to a text', () => {
  const bounds = ['0', '-12.5', '999999999999999999', '0.000000001', '-100']
  const patterns = [INTEGER_TEXT, DECIMAL_TEXT, decimalText({ whole: 40, fraction: 20 })].concat(
    ...bounds.map((bound) => [atLeastPattern(bound) ?? '', atMostPattern(bound) ?? '']),
  )
  for (const pattern of patterns) assert.equal(patternCost(new RegExp(pattern, 'u')).degree, 1, pattern)
})
