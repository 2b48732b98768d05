import { Base, Controller, Field, Get, Item, Page, Paginate, Post, Session, conflict, createApp, lifespan, notFound, select } from 'sequitur'
import { type CreationOptional, UniqueConstraintError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

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
    try { await session.flush() } catch (error) {
      if (error instanceof UniqueConstraintError) conflict('Duplicate hero name')
      throw error
    }
    return { data: hero }
  }
}

export const app = createApp({ controllers: [HeroController], models: [Hero], lifespan })
await app.listen(8000)          // GET /docs, GET /openapi.json
