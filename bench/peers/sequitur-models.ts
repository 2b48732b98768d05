import { type CreationOptional, UniqueConstraintError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  conflict,
  Controller,
  createApp,
  Field,
  Get,
  Item,
  newLifespan,
  notFound,
  Page,
  Post,
  Query,
} from 'sequitur'
import { type Database, pageMeta, type Peer } from './support/peer.js'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING, allowNull: false }) declare secret_identity: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
}

class HeroInput {
  @Field() name!: string
  @Field() secret_identity!: string
  @Field({ type: 'integer' }) age!: number
}
class HeroModel extends HeroInput {
  @Field({ type: 'integer' }) id!: number
}

/** Calls of Sequelize's own methods, which join the transaction of the handler. */
@Controller('/heros')
class HeroController {
  @Get('/', Page.of(HeroModel))
  async list(
    @Query({ type: 'integer', minimum: 0, default: 0 }) offset: number,
    @Query({ type: 'integer', minimum: 1, maximum: 100, default: 10 }) limit: number,
  ) {
    const { rows, count } = await Hero.findAndCountAll({ offset, limit, order: ['id'] })
    return { data: rows, meta: pageMeta(offset, limit, count) }
  }

  @Get('/:hero_id', Item.of(HeroModel))
  async get(hero_id: number) {
    return { data: (await Hero.findByPk(hero_id)) ?? notFound('Hero not found') }
  }

  @Post('/', Item.of(HeroModel))
  async create(input: HeroInput) {
    try {
      return { data: await Hero.create(input) }
    } catch (error) {
      if (error instanceof UniqueConstraintError) conflict('Duplicate hero name')
      throw error
    }
  }
}

@Controller('/hello')
class HelloController {
  @Get('/')
  hello() {
    return { hello: 'world' }
  }
}

const schemes = { postgres: '', sqlite: 'sqlite+sqlite3:///', mariadb: '' } satisfies Record<Database['kind'], string>

export default {
  title: 'Sequitur, methods of Sequelize',
  databases: ['postgres', 'sqlite', 'mariadb'],
  async start(database) {
    const app = database
      ? createApp({
          controllers: [HelloController, HeroController],
          models: [Hero],
          lifespan: newLifespan(schemes[database.kind] + database.url),
        })
      : createApp({ controllers: [HelloController] })
    return (await app.listen(0)).port
  },
} satisfies Peer
