import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { withSession } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Author, Book } from './book.js'
import { Loan } from './loan.js'
import { LoanController } from './loans.js'
import { Member } from './member.js'
import { MemberController } from './members.js'

async function library(t: TestContext) {
  const lifespan = memoryDatabase()
  const controllers = [MemberController, LoanController]
  const api = await testApp({ controllers, models: [Author, Book, Member, Loan], lifespan })
  t.after(api.close)
  await withSession(async () => {
    const { id } = await Author.create({ name: 'Ursula K. Le Guin' })
    const titles = ['The Dispossessed', 'The Lathe of Heaven', 'Rocannon’s World', 'Planet of Exile']
    await Book.bulkCreate(titles.map((title) => ({ title, year: 1970, author_id: id })))
  })
  const register = async (name: string) => {
    const { token } = (await (await api.fetch('/members', { method: 'POST', json: { name } })).json()) as {
      token: string
    }
    const headers = { authorization: `Bearer ${token}` }
    return (path: string, method = 'GET', json?: unknown) => api.fetch(path, { method, headers, json })
  }
  return { ...api, register }
}

test('without a token nobody borrows a book', async (t) => {
  const { fetch } = await library(t)
  assert.equal((await fetch('/loans', { method: 'POST', json: { book_id: 1 } })).status, 401)
})

test('a book is lent once, until it is brought back', async (t) => {
  const { register } = await library(t)
  const [robin, alfred] = [await register('Robin'), await register('Alfred')]
  assert.equal((await robin('/loans', 'POST', { book_id: 1 })).status, 201)
  assert.equal((await alfred('/loans', 'POST', { book_id: 1 })).status, 409)
  assert.equal((await alfred('/loans/1', 'DELETE')).status, 403)
  assert.equal((await robin('/loans/1', 'DELETE')).status, 204)
  assert.equal((await alfred('/loans', 'POST', { book_id: 1 })).status, 201)
})

test('a member has three books at most, also if all requests come at once', async (t) => {
  const { register } = await library(t)
  const robin = await register('Robin')
  const answers = await Promise.all([1, 2, 3, 4].map((book_id) => robin('/loans', 'POST', { book_id })))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 201, 201, 409])
})
