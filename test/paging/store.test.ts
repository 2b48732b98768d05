import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Model, type ModelStatic, type Order, type OrderItem } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Page, Paginate, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { databaseApp, databases } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { walk } from '../support/walk.js'

/*
 * A music store: a table that refers to itself, keys of two columns, prices, dates and many NULLs. For any order, also by columns of
 * models that a row belongs to, the offset pages put together, and the cursor pages put together, are the whole list.
 */

const KEY = { type: DataType.INTEGER, primaryKey: true }
const NUMBER = { type: DataType.INTEGER }
const NEEDED = { allowNull: false }

@Table({ tableName: 'Employee', timestamps: false })
class Employee extends Base<Employee> {
  @Column({ ...KEY, field: 'EmployeeId' }) declare id: number
  @Column({ type: DataType.STRING(20), ...NEEDED, field: 'LastName' }) declare lastName: string
  @ForeignKey(() => Employee) @Column({ ...NUMBER, field: 'ReportsTo' }) declare reportsTo: number | null
  @Column({ type: DataType.DATE, field: 'BirthDate' }) declare born: Date | null
  @BelongsTo(() => Employee, 'reportsTo') declare boss?: unknown
}

@Table({ tableName: 'Customer', timestamps: false })
class Customer extends Base<Customer> {
  @Column({ ...KEY, field: 'CustomerId' }) declare id: number
  @Column({ type: DataType.STRING(80), field: 'Company' }) declare company: string | null
  @Column({ type: DataType.STRING(10), field: 'PostalCode' }) declare postalCode: string | null
  @ForeignKey(() => Employee) @Column({ ...NUMBER, field: 'SupportRepId' }) declare repId: number | null
  @BelongsTo(() => Employee) declare rep?: unknown
}

@Table({ tableName: 'Invoice', timestamps: false })
class Invoice extends Base<Invoice> {
  @Column({ ...KEY, field: 'InvoiceId' }) declare id: number
  @ForeignKey(() => Customer) @Column({ ...NUMBER, ...NEEDED, field: 'CustomerId' }) declare customerId: number
  @Column({ type: DataType.DATE, ...NEEDED, field: 'InvoiceDate' }) declare date: Date
  @Column({ type: DataType.DECIMAL(10, 2), ...NEEDED, field: 'Total' }) declare total: string
  @Column({ type: DataType.STRING(40), field: 'BillingState' }) declare state: string | null
  @BelongsTo(() => Customer) declare customer?: unknown
}

@Table({ tableName: 'Track', timestamps: false })
class Track extends Base<Track> {
  @Column({ ...KEY, field: 'TrackId' }) declare id: number
  @Column({ type: DataType.STRING(200), ...NEEDED, field: 'Name' }) declare name: string
  @Column({ type: DataType.STRING(220), field: 'Composer' }) declare composer: string | null
  @Column({ ...NUMBER, field: 'Bytes' }) declare bytes: number | null
  @Column({ type: DataType.DECIMAL(10, 2), ...NEEDED, field: 'UnitPrice' }) declare price: string
}

@Table({ tableName: 'PlaylistTrack', timestamps: false })
class PlaylistTrack extends Base<PlaylistTrack> {
  @Column({ ...KEY, field: 'PlaylistId' }) declare playlistId: number
  @ForeignKey(() => Track) @Column({ ...KEY, field: 'TrackId' }) declare trackId: number
  @BelongsTo(() => Track) declare track?: unknown
}

const models = [Employee, Customer, Invoice, Track, PlaylistTrack] as const
type AnyModel = ModelStatic<Model>
type Options = { order: Order; include: { association: string }[] }

let options: Options = { order: [], include: [] }
const statement = <M extends Model>(model: ModelStatic<M>) => select(model, options as object)

/** Both lists of a model. */
function listsOf(model: ModelStatic<Base>) {
  @Controller('/')
  class Lists {
    @Get(`/offset/${model.name}`, Page.of(model), { operationId: `offset${model.name}` }) offset(
      paginate: Paginate<Base>,
    ) {
      return paginate(statement(model))
    }
    @Get(`/cursor/${model.name}`, CursorPage.of(model), { operationId: `cursor${model.name}` })
    cursor(paginate: CursorPaginate<Base>) {
      return paginate(statement(model))
    }
  }
  return Lists
}

async function fill(): Promise<void> {
  const next = random(11)
  const orNull = <T>(value: T): T | null => (next(3) === 0 ? null : value)
  const rows = <T>(count: number, row: (id: number) => T) =>
    Array.from({ length: count }, (_, id) => row(id)) as never[]
  const day = () => new Date(Date.UTC(2009 + next(5), next(12), 1 + next(28)))
  await Employee.bulkCreate(
    rows(9, (id) => ({ id, lastName: 'ABBA'[next(4)], reportsTo: id && orNull(next(id)), born: orNull(day()) })),
  )
  await Customer.bulkCreate(
    rows(30, (id) => ({
      id,
      company: orNull('xyz'[next(3)]),
      postalCode: orNull(`0${next(9)}`),
      repId: orNull(next(9)),
    })),
  )
  await Invoice.bulkCreate(
    rows(60, (id) => ({ id, customerId: next(30), date: day(), total: `${next(3)}.${next(2)}9`, state: orNull('AZ') })),
  )
  await Track.bulkCreate(
    rows(60, (id) => ({
      id,
      name: ['Água', "Ain't", 'a', 'A'][next(4)],
      composer: orNull(['AC/DC', 'ac/dc'][next(2)]),
      bytes: orNull(2_147_483_600 + next(9)),
      price: ['0.99', '1.99'][next(2)],
    })),
  )
  const links = new Set(Array.from({ length: 70 }, () => next(5) * 100 + next(60)))
  await PlaylistTrack.bulkCreate(
    [...links].map((link) => ({ playlistId: Math.floor(link / 100), trackId: link % 100 })),
  )
}

/** Random columns of a model, and of models that it belongs to. */
function anyOptions(model: AnyModel, next: (below: number) => number): Options {
  const own = Object.keys(model.getAttributes()).map((name) => [name])
  const joined = Object.entries(model.associations).flatMap(([as, { target }]) =>
    Object.keys(target.getAttributes()).map((name) => [as, name]),
  )
  const chosen = [...own, ...own, ...joined].toSorted(() => next(3) - 1).slice(0, 1 + next(4))
  const order = chosen.map((path): OrderItem => [...path, next(2) ? 'ASC' : 'DESC'] as never)
  const names = new Set(chosen.filter(({ length }) => length > 1).map(([as]) => as as string))
  return { order, include: [...names].map((association) => ({ association })) }
}

for (const kind of databases) {
  test(`the music store on ${kind.name}, in random orders`, async (t) => {
    const { fetch } = await databaseApp(t, kind, models, (models as readonly ModelStatic<Base>[]).map(listsOf))
    await fill()
    const next = random(5)
    for (const model of models as readonly AnyModel[])
      for (let round = 0; round < runs(16); round++) {
        options = anyOptions(model, next)
        const keys = model.primaryKeyAttributes.map((key): OrderItem => [key, 'ASC'])
        const whole = await model.findAll({ ...options, order: [...(options.order as OrderItem[]), ...keys] })
        const limit = [1, 3, 8, 25, 100][next(5)] as number
        const byCursor = await walk(fetch, `/cursor/${model.name}`, limit)
        const byOffset: unknown[] = []
        for (let offset = 0; offset < whole.length; offset += limit) {
          const { data, meta } = (await (
            await fetch(`/offset/${model.name}?limit=${limit}&offset=${offset}`)
          ).json()) as {
            data: unknown[]
            meta: { total_items: number }
          }
          assert.equal(meta.total_items, whole.length)
          byOffset.push(...data)
        }
        const keyOf = (row: object) => model.primaryKeyAttributes.map((key) => Reflect.get(row, key) as unknown)
        const what = `${model.name} by ${JSON.stringify(options.order)}, pages of ${limit}`
        assert.deepEqual(byCursor.map(keyOf), whole.map(keyOf), what)
        assert.deepEqual(byOffset, byCursor, what)
      }
  })
}
