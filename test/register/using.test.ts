import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alone, printed, project } from '../support/project.js'

const resources = `
const Get: MethodDecorator = () => {}
const open = (name: string, error?: Error) => ({
  [Symbol.dispose]() { console.log('close', name); if (error) throw error },
})
const openAsync = (name: string) => ({
  async [Symbol.asyncDispose]() { await null; console.log('close', name) },
})
`

test('without tsx, what is declared by using is disposed of at the end of its block, last first', async (t) => {
  const root = await project(t, {
    'app.ts': `${resources}
      { using first = open('first'), none = null, second = open('second'); console.log('block') }
      { await using first = openAsync('async'); using second = open('third') }
      console.log('end')`,
  })
  const lines = ['block', 'close second', 'close first', 'close third', 'close async', 'end']
  assert.deepEqual((await printed(root, alone, 'app.ts')).split('\n'), lines)
})

test('without tsx, no error of a block with using hides another', async (t) => {
  const root = await project(t, {
    'app.ts': `${resources}
      try {
        using first = open('first', new Error('at the end'))
        throw new Error('in the block')
      } catch (error: any) {
        console.log(error.name, error.error.message, error.suppressed.message)
      }`,
  })
  assert.equal(await printed(root, alone, 'app.ts'), 'close first\nSuppressedError at the end in the block')
})

test('without tsx, using refuses a value that cannot be disposed of, before the block goes on', async (t) => {
  const root = await project(t, {
    'app.ts': `
      try {
        using nothing = {} as Disposable
        console.log('block')
      } catch (error: any) {
        console.log(error.name)
      }`,
  })
  assert.equal(await printed(root, alone, 'app.ts'), 'TypeError')
})
