import {
  Body,
  Controller,
  Cookie,
  createApp,
  Field,
  Get,
  Header,
  newLifespan,
  Post,
  Query,
  Transactional,
} from 'sequitur'

/*
 * A program whose routes have inputs and transactions of every kind.
 */

class Transfer {
  @Field({ type: 'integer' }) amount!: number
}

class Filter {
  @Field() name!: string
  @Field({ type: 'integer', optional: true }) age?: number
}

@Controller('/accounts')
class AccountController {
  @Get('/:account_id')
  get(account_id: number, @Query({ optional: true }) verbose?: boolean) {
    return { account_id, verbose }
  }

  @Transactional({ readOnly: true })
  @Get('/')
  find(@Query() filter: Filter, @Header() x_tenant: string, @Cookie() theme: string) {
    return { filter, x_tenant, theme }
  }

  @Transactional({ isolation: 'serializable', retry: 5 })
  @Post('/transfers')
  transfer(transfer: Transfer) {
    return { transfer }
  }

  @Transactional(false)
  @Post('/batches')
  batch(@Body({ type: [Transfer] }) transfers: Transfer[]) {
    return { transfers }
  }
}

createApp({ controllers: [AccountController], lifespan: newLifespan('sqlite+sqlite3:///:memory:') })
