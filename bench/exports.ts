/*
 * The memory of an export: `node --conditions=sequitur-source --import tsx --import sequitur/register bench/exports.ts [rows] [url]`. Writes the rows into a new table, and
 * exports them in each format to a client that takes them as fast as it can. Prints the time, and the resident memory before, at most, and at the end.
 */
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, newLifespan, select } from 'sequitur'
import { Rows, rows } from 'sequitur/exports'
import { testApp } from 'sequitur/testing'

@Table({ tableName: 'exported_row', timestamps: false })
class ExportedRow extends Base<ExportedRow> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.DATE, allowNull: false }) declare at: Date
  @Column({ type: DataType.DECIMAL(12, 2) }) declare price: string | null
}

@Controller('/')
class Exports {
  @Get('/rows', Rows.of(ExportedRow)) rows() {
    return rows(select(ExportedRow, { order: ['id'] }))
  }
}

const [count = '1000000', url = 'sqlite:///:memory:'] = process.argv.slice(2)
const AT_ONCE = 5_000

const database = newLifespan(url, { sync: true })
const api = await testApp({ controllers: [Exports], models: [ExportedRow], lifespan: database })
try {
  await ExportedRow.destroy({ where: {} })
  for (let from = 0; from < Number(count); from += AT_ONCE)
    await ExportedRow.bulkCreate(
      Array.from({ length: Math.min(AT_ONCE, Number(count) - from) }, (_, at) => ({
        name: `The name of row ${from + at}`,
        at: new Date(1_700_000_000_000 + at),
        price: String(at % 1000),
      })),
    )
  await wait(2_000)
  for (const accept of ['application/x-ndjson', 'text/csv', 'application/json']) await exportAs(accept)
} finally {
  await ExportedRow.drop()
  await api.close()
}

async function exportAs(accept: string): Promise<void> {
  const before = megabytes()
  let most = before
  const samples = setInterval(() => (most = Math.max(most, megabytes())), 50)
  const start = performance.now()
  const client = spawn('curl', [
    '-sS',
    '-H',
    `Accept: ${accept}`,
    '-o',
    '/dev/null',
    '-w',
    '%{size_download}',
    `${api.url}/rows`,
  ])
  let size = ''
  client.stdout.on('data', (text) => (size += String(text)))
  await once(client, 'close')
  clearInterval(samples)
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(
    `${accept}: ${count} rows, ${(Number(size) / 2 ** 20).toFixed(0)} MiB in ${seconds} s; RSS ${before} MiB before, ${most} at most, ${megabytes()} after`,
  )
}

function megabytes(): number {
  return Math.round(process.memoryUsage.rss() / 2 ** 20)
}
