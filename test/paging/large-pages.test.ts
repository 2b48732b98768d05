import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Base, Controller, Field, Get, newPagination, Page, select } from 'sequitur'
import { newCursorPagination, CursorPage } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'

@Table({ tableName: 'shelf', timestamps: false })
class Shelf extends Base<Shelf> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @HasMany(() => Book) declare books?: Book[]
}

@Table({ tableName: 'drawer', timestamps: false })
class Drawer extends Base<Drawer> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare side: number
  @HasMany(() => Book, { foreignKey: 'shelf_id', sourceKey: 'id', constraints: false }) declare books?: Book[]
}

@Table({ tableName: 'book', timestamps: false })
class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Shelf)
  @Column({ type: DataType.INTEGER })
  declare shelf_id: number
}

class Id {
  @Field({ type: 'integer' }) id!: number
}
class WithBooks extends Id {
  @Field({ type: [Id], optional: true }) books?: Id[]
}

class Offset<T> extends newPagination({ maxPageSize: 5000 })<T> {}
class Cursor<T> extends newCursorPagination({ maxPageSize: 5000 })<T> {}

@Controller('/')
class Lists {
  @Get('/offset/shelf', Page.of(WithBooks)) shelves(paginate: Offset<WithBooks>) {
    return paginate(select(Shelf, { include: [Book] }))
  }
  @Get('/cursor/shelf', CursorPage.of(WithBooks)) shelvesByCursor(paginate: Cursor<WithBooks>) {
    return paginate(select(Shelf, { include: [Book], order: ['id'] }))
  }
  @Get('/offset/drawer', Page.of(WithBooks)) drawers(paginate: Offset<WithBooks>) {
    return paginate(select(Drawer, { include: [Book] }))
  }
  @Get('/cursor/drawer', CursorPage.of(WithBooks)) drawersByCursor(paginate: Cursor<WithBooks>) {
    return paginate(select(Drawer, { include: [Book], order: ['id'] }))
  }
}

const ROWS = 2_500

for (const kind of databases) {
  test(`on ${kind.name} a page of thousands of rows has all that they include`, async (t) => {
    const { fetch, log } = await databaseApp(t, kind, [Shelf, Drawer, Book], [Lists])
    const ids = Array.from({ length: ROWS }, (_, id) => id)
    await Shelf.bulkCreate(ids.map((id) => ({ id })))
    await Drawer.bulkCreate(ids.map((id) => ({ id, side: id % 2 })))
    await Book.bulkCreate(ids.map((id) => ({ id, shelf_id: id })))
    for (const path of ['/offset/shelf', '/cursor/shelf', '/offset/drawer', '/cursor/drawer']) {
      const answer = await fetch(`${path}?limit=${ROWS - 1}`)
      assert.equal(answer.status, 200, `${path}: ${log.at(-1)?.slice(0, 500)}`)
      const { data } = (await answer.json()) as { data: WithBooks[] }
      assert.deepEqual(
        data,
        ids.slice(0, -1).map((id) => ({ id, books: [{ id }] })),
      )
    }
  })
}
