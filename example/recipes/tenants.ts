import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  Base,
  Controller,
  Delete,
  dto,
  Get,
  Header,
  Injectable,
  Item,
  newLifespan,
  notFound,
  Page,
  Paginate,
  Post,
  Request,
  Security,
  select,
  Session,
  unauthorized,
  withSession,
} from 'sequitur'
import { tenancy, withTenant } from 'sequitur/tenancy'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'invoice', timestamps: false, indexes: [{ fields: ['tenant_id'] }] })
export class Invoice extends Base<Invoice> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false }) declare customer: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare cents: number
}

class NewInvoice extends dto(Invoice, { pick: ['customer', 'cents'] }) {}
class InvoiceRow extends dto(Invoice, { omit: ['tenant_id'] }) {}

const secret = process.env['TOKEN_SECRET'] ?? 'only for trying it out'

const signatureOf = (tenant: string) => createHmac('sha256', secret).update(tenant).digest('base64url')

/** A token as a login would hand it out: `7.` and a signature, which a client cannot make for another tenant. */
export const tokenOf = (tenant: number): string => `${tenant}.${signatureOf(String(tenant))}`

/** The tenants of the requests whose token was verified. */
const tenants = new WeakMap<Request, number>()

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
export class Member {
  constructor(request: Request, @Header({ optional: true }) authorization: string = '') {
    const [, tenant = '', signature = ''] = /^Bearer (\d{1,9})\.([\w-]{43})$/.exec(authorization) ?? []
    const isValid = signature !== '' && timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(tenant)))
    if (!isValid) unauthorized('Send the header Authorization: Bearer <token>')
    tenants.set(request, Number(tenant))
  }
}

export const database = newLifespan('sqlite://', {
  sync: true,
  models: [Invoice],
  boundary: tenancy({ of: (request) => tenants.get(request), column: 'tenant_id' }),
})

@Controller('/invoices', { requires: [Member] })
export class InvoiceController {
  @Get('/', Page.of(InvoiceRow))
  list(paginate: Paginate<Invoice>) {
    return paginate(select(Invoice, { order: ['id'] }))
  }

  @Get('/:id', Item.of(InvoiceRow))
  async get(id: number, session: Session) {
    return { data: (await session.get(Invoice, id)) ?? notFound('Invoice not found') }
  }

  @Post('/', Item.of(InvoiceRow))
  async create(invoice: NewInvoice) {
    return { data: await Invoice.create({ ...invoice }) }
  }

  @Delete('/')
  async clear() {
    await Invoice.destroy({ where: {} })
  }
}

/** A job names its tenant. */
export const revenueOf = (tenant: number): Promise<number> =>
  withTenant(tenant, () => withSession(database, () => Invoice.sum('cents')))
