import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { halvesOf, testFiles } from '../scripts/test-files.js'

test('with --halves, each room has files for both of two databases, and test/db runs on all', () => {
  const rooms = new Map<string, Set<unknown>>()
  for (const [file, half] of halvesOf(testFiles('test'))) {
    const room = dirname(file)
    rooms.set(room, (rooms.get(room) ?? new Set()).add(half))
  }
  assert.ok(rooms.size > 10)
  assert.deepEqual(
    [...rooms].filter(([, halves]) => halves.size < 2),
    [],
  )
  assert.equal(rooms.has('test/db'), false)
})
