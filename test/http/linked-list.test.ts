import assert from 'node:assert/strict'
import test from 'node:test'
import { array, assert as check, nat, property } from 'fast-check'
import { type Link, LinkedList } from '../../src/http/server/requests/linked-list.js'

test('a list has the values that were added and not deleted, in the order in which they were added', () => {
  check(
    property(array(nat({ max: 30 })), (choices) => {
      const list = new LinkedList<number>()
      const links: Link<number>[] = []
      const expected = new Set<number>()
      for (const [value, choice] of choices.entries()) {
        const link = links[choice]
        if (link) assert.equal(list.delete(link), expected.delete(link.value))
        else {
          links.push(list.add(value))
          expected.add(value)
        }
        assert.deepEqual([...list], [...expected])
        assert.equal(list.size, expected.size)
        assert.equal(list.first?.value, [...expected][0])
      }
    }),
  )
})
