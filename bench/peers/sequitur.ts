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
  Paginate,
  Post,
  select,
  Session,
} from 'sequitur'
import type { Database, Peer } from './support/peer.js'

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

@Controller('/heros')
class HeroController {
  @Get('/', Page.of(HeroModel))
  list(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }

  @Get('/:hero_id', Item.of(HeroModel))
  async get(hero_id: number, session: Session) {
    return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
  }

  @Post('/', Item.of(HeroModel))
  async create(input: HeroInput, session: Session) {
    const hero = session.add(Hero.build(input))
    try {
      await session.flush()
    } catch (error) {
      if (error instanceof UniqueConstraintError) conflict('Duplicate hero name')
      throw error
    }
    return { data: hero }
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
  title: 'Sequitur, as in its README',
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
