import { Base, Controller, dto, Get, newLifespan, Page, Paginate, Post, select, Session } from 'sequitur'
import { tenancy } from 'sequitur/tenancy'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'task', timestamps: false, indexes: [{ fields: ['tenant_id'] }] })
export class Task extends Base<Task> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string
}

class NewTask extends dto(Task, { pick: ['title'] }) {}

const tenants: ReadonlyMap<unknown, number> = new Map([
  ['key of Ann', 1],
  ['key of Bob', 2],
])
const boundary = tenancy({ of: ({ headers }) => tenants.get(headers['x-api-key']), column: 'tenant_id' })

export const database = newLifespan('sqlite+sqlite3:///:memory:', { sync: true, models: [Task], boundary })

@Controller('/tasks')
export class TaskController {
  @Get('/', Page.of(Task))
  list(paginate: Paginate<Task>) {
    return paginate(select(Task, { order: ['id'] })) // the rows of the tenant, and no others
  }

  @Post('/', { status: 204 })
  create({ title }: NewTask, session: Session) {
    session.add(Task.build({ title })) // gets the tenant_id of the request
  }
}
