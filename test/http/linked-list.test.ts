import assert from 'node:assert/strict'
import test from 'node:test'
import { array, assert as check, nat, property } from 'fast-check'
import { type Linked, LinkedList } from '../../src/http/server/requests/linked-list.js'

interface Item extends Linked<Item> {
  readonly value: number
}

test('a list has the values that were added and not deleted, in the order in which they were added', () => {
  check(
    property(array(nat({ max: 30 })), (choices) => {
      const list = new LinkedList<Item>()
      const items: Item[] = []
      const expected = new Set<Item>()
      for (const [value, choice] of choices.entries()) {
        const known = items[choice]
        if (known) assert.equal(list.delete(known), expected.delete(known))
        else {
          const item: Item = { value, previous: undefined, next: undefined }
          items.push(item)
          list.add(item)
          expected.add(item)
        }
        assert.deepEqual(valuesOf(list), valuesOf(expected))
        assert.equal(list.size, expected.size)
        assert.equal(list.first?.value, valuesOf(expected)[0])
      }
    }),
  )
})

function valuesOf(items: Iterable<Item>): number[] {
  return [...items].map(({ value }) => value)
}
