import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, Page, Paginate, select } from 'sequitur'
import { memoryDatabase } from 'sequitur/testing'
import { exchange, plainServer } from '../support/connection.js'

@Table({ tableName: 'note', timestamps: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}

@Controller('/:tenant/notes')
class Notes {
  @Get('/', Page.of(Note)) list(tenant: string, paginate: Paginate<Note>) {
    return paginate(select(Note, { where: tenant ? {} : { id: 0 } }))
  }
}

for (const sets of ['nothing', 'originalUrl'])
  test(`for any path, the Link header targets only the list, if a server sets ${sets}`, async (t) => {
    const app = createApp({ controllers: [Notes], models: [Note], lifespan: memoryDatabase(), logger: false })
    t.after(() => app.close())
    const url = await plainServer(t, (request, response) => {
      if (sets === 'originalUrl') Object.assign(request, { originalUrl: request.url })
      app.handler(request, response)
    })
    const path = '/x>;rel="preload",<%2F%2Fevil.example%2Fa>;rel="next"/notes'
    const answer = await exchange(t, url, `GET ${path} HTTP/1.1\nHost: a\nConnection: close\n\n`)
    const link = /^link: (.*)$/im.exec(answer)?.[1] ?? ''
    assert.match(link, /^<\/x%3E[^<>" ]*\/notes\?[^<>" ]*>; rel="first", <\/x%3E[^<>" ]*>; rel="last"$/)
  })
