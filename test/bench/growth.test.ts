import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { dimensions, explain } from '../../bench/growth/dimensions.js'
import { type Growth, picturesOf, sectionOf, withSection } from '../../bench/growth/results.js'
import { root } from '../support/processes.js'

const read = (file: string) => readFileSync(root + file, 'utf8')
const growths = JSON.parse(read('bench/growth.json')) as Growth[] // written by bench/growth.ts
const page = read('docs/scaling.md')

test('the figures of the documentation are those that were measured', () => {
  assert.ok(growths.length > 0)
  assert.equal(withSection(page, sectionOf(growths, explain)), page)
})

for (const growth of growths)
  test(`the pictures of ${growth.name} are those of its figures`, () => {
    const pictures = [...picturesOf(growth)]
    assert.deepEqual(
      pictures.map(([name]) => read(`bench/growth/${name}`)),
      pictures.map(([, picture]) => picture),
    )
  })

test('each line has a figure for each size', () => {
  for (const { name, xs, lines } of growths)
    for (const line of lines) assert.equal(line.values.length, xs.length, `${name}: ${line.name}`)
})

test('a section takes the place of the one before it, and of nothing else', () => {
  const [first] = growths
  assert.ok(first)
  const section = sectionOf([first], (name) => `What ${name} show.`)
  const before = '# Page\n\nText.\n\n## How cost grows\n\nold\n\n### Old\n\nold\n\n## Next\n\nText.\n'
  assert.equal(withSection(before, section), `# Page\n\nText.\n\n${section}\n\n## Next\n\nText.\n`)
  assert.ok(section.endsWith(`What ${first.name} show.`))
})

test('dimensions have names of their own, and an explanation', () => {
  assert.equal(new Set(dimensions.map(({ name }) => name)).size, dimensions.length)
  for (const { name, explanation } of dimensions) assert.notEqual(explanation, '', name)
})
