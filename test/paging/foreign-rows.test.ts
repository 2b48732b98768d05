import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Base, Controller, Get, type Select, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { type CursorPosition, proofOf, writeCursor } from '../../src/paging/cursor/cursor.js'
import { databaseApp, databases } from '../support/databases.js'
import { bindingOf } from '../support/forge.js'

/*
 * A cursor, even one forged with the key, must not reveal rows outside of the list: the response is the same, byte for byte, with and
 * without another tenant's rows in the table.
 */

@Table({ tableName: 'tenant', timestamps: false })
class Tenant extends Base<Tenant> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

@Table({ tableName: 'account', timestamps: false })
class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Tenant) @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number
  @Column({ type: DataType.STRING, allowNull: false }) declare pin: string
  @BelongsTo(() => Tenant) declare tenant: Tenant
  @HasMany(() => Card) declare cards: Card[]
}

@Table({ tableName: 'card', timestamps: false })
class Card extends Base<Card> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Account) @Column({ type: DataType.INTEGER, allowNull: false }) declare account_id: number
}

/** The accounts of the first tenant: by a column of the account, by one of its tenant, and with its cards. */
const lists: Readonly<Record<string, () => Select<Account>>> = {
  where: () => select(Account, { where: { tenant_id: 1 }, order: ['pin'] }),
  include: () => select(Account, { include: [{ model: Tenant, where: { name: 'ours' } }], order: ['pin'] }),
  joined: () => select(Account, { include: [Tenant], where: { '$tenant.name$': 'ours' }, order: [['pin', 'DESC']] }),
  parts: () => select(Account, { where: { tenant_id: 1 }, include: [Card], order: ['pin'] }),
}

function listOf(name: string): Select<Account> {
  return lists[name]?.() ?? select(Account)
}

@Controller('/')
class Accounts {
  @Get('/:list', Page.of(Account)) list(list: string, paginate: Paginate<Account>) {
    return paginate(listOf(list))
  }
}

const OURS = [
  { id: 1, tenant_id: 1, pin: '1111' },
  { id: 2, tenant_id: 1, pin: '5555' },
  { id: 3, tenant_id: 1, pin: '9999' },
]
const THEIRS = [
  { id: 4, tenant_id: 2, pin: '4711' },
  { id: 5, tenant_id: 2, pin: '0815' },
]

const SECRET = 'the key of this app'
const PINS = ['1111', '4711', '0815', '4712']
const IDS = [1, 4, 6]

interface Forgery {
  readonly list: string
  readonly mark: CursorPosition
}

/** Guesses of a row's values: as a place, and as a proof. */
function forgeries(toText: (type: 'i' | 't', value: string | number) => string): readonly Forgery[] {
  return Object.keys(lists).flatMap((list) =>
    PINS.flatMap((pin) =>
      IDS.flatMap((id) => {
        const [key, place] = [toText('i', id), [toText('t', pin), toText('i', id)]]
        const marks = [
          { place, shared: 0 },
          { place, shared: 1 },
          { place: [key], shared: 0, proof: proofOf(place) },
        ]
        return marks.map((mark) => ({ list, mark }))
      }),
    ),
  )
}

for (const kind of databases) {
  test(`on ${kind.name} no forged cursor reveals rows outside of the list`, async (t) => {
    const options = { cursorSecret: SECRET }
    const { fetch, database } = await databaseApp(t, kind, [Tenant, Account, Card], [Accounts], options)
    const rows = [...OURS, ...THEIRS]
    await Tenant.bulkCreate(['ours', 'theirs'].map((name, index) => ({ id: index + 1, name })))
    await Account.bulkCreate(rows as never[]) // the types want what is joined as well
    await Card.bulkCreate(
      rows.flatMap(({ id: account_id }) => [
        { id: account_id, account_id },
        { id: account_id + 10, account_id },
      ]) as never[],
    )

    const isSqlite = database.sequelize.getDialect() === 'sqlite' // its texts begin with the type
    const all = forgeries((type, value) => `${isSqlite ? type : ''}${value}`)
    const answers = async () => {
      const texts: string[] = []
      for (const { list, mark } of all) {
        const cursor = writeCursor(mark, bindingOf(listOf(list), SECRET))
        const answer = await fetch(`/${list}?limit=1&next_cursor=${cursor}`)
        texts.push(`${answer.status} ${await answer.text()}`)
      }
      return texts
    }
    const beside = await answers()
    await Card.destroy({ where: { account_id: THEIRS.map(({ id }) => id) } })
    await Account.destroy({ where: { tenant_id: 2 } })
    const alone = await answers()
    for (const [index, answer] of beside.entries()) assert.equal(answer, alone[index], JSON.stringify(all[index]))
    assert.equal(beside.filter((answer) => answer.startsWith('200')).length, 100)
  })
}
