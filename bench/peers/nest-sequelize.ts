// On Fastify: https://docs.nestjs.com/techniques/performance
import 'reflect-metadata'
import {
  Body,
  ConflictException,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { InjectModel, SequelizeModule } from '@nestjs/sequelize'
import { Type } from 'class-transformer'
import { IsInt, IsString, Max, Min } from 'class-validator'
import {
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  UniqueConstraintError,
} from 'sequelize'
import { Column, DataType, Model, Sequelize, Table } from 'sequelize-typescript'
import { pageMeta, type Peer } from './support/peer.js'
import { sequelizeOptions } from './support/sequelize-heroes.js'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Model<InferAttributes<Hero>, InferCreationAttributes<Hero>> {
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING, allowNull: false }) declare secret_identity: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
}

class HeroInput {
  @IsString() name!: string
  @IsString() secret_identity!: string
  @IsInt() age!: number
}

class Window {
  @Type(() => Number) @IsInt() @Min(0) offset = 0
  @Type(() => Number) @IsInt() @Min(1) @Max(100) limit = 10
}

/** Each method is one transaction. */
@Injectable()
class HeroService {
  constructor(
    private readonly sequelize: Sequelize,
    @InjectModel(Hero) private readonly heroes: typeof Hero,
  ) {}

  list(offset: number, limit: number) {
    return this.sequelize.transaction(async (transaction) => {
      const { rows, count } = await this.heroes.findAndCountAll({ offset, limit, order: ['id'], transaction })
      return { data: rows, meta: pageMeta(offset, limit, count) }
    })
  }

  get(id: number) {
    return this.sequelize.transaction((transaction) => this.heroes.findByPk(id, { transaction }))
  }

  /** As an object, because a created instance begins with its id, and one that was read as its model does. */
  create({ name, secret_identity, age }: HeroInput) {
    return this.sequelize.transaction(async (transaction) => {
      const { id } = await this.heroes.create({ name, secret_identity, age }, { transaction })
      return { name, secret_identity, age, id }
    })
  }
}

@Controller('heros')
class HeroController {
  constructor(private readonly heroes: HeroService) {}

  @Get()
  list(@Query() { offset, limit }: Window) {
    return this.heroes.list(offset, limit)
  }

  @Get(':id')
  async get(@Param('id', new ParseIntPipe({ errorHttpStatusCode: 422 })) id: number) {
    const data = await this.heroes.get(id)
    if (!data) throw new NotFoundException('Hero not found')
    return { data }
  }

  @Post()
  async create(@Body() input: HeroInput) {
    try {
      return { data: await this.heroes.create(input) }
    } catch (error) {
      if (error instanceof UniqueConstraintError) throw new ConflictException('Duplicate hero name')
      throw error
    }
  }
}

@Controller('hello')
class HelloController {
  @Get()
  hello() {
    return { hello: 'world' }
  }
}

@Module({ controllers: [HelloController] })
class HelloModule {}

export default {
  title: 'NestJS (Fastify) + Sequelize',
  databases: ['postgres', 'mariadb'],
  async start(database) {
    const app = await NestFactory.create<NestFastifyApplication>(
      database
        ? {
            module: HelloModule,
            imports: [
              SequelizeModule.forRoot({ ...sequelizeOptions(database), models: [Hero], synchronize: false }),
              SequelizeModule.forFeature([Hero]),
            ],
            controllers: [HeroController],
            providers: [HeroService],
          }
        : HelloModule,
      new FastifyAdapter(),
      { logger: ['error'] },
    )
    app.useGlobalPipes(new ValidationPipe({ transform: true, errorHttpStatusCode: 422 }))
    await app.listen(0, '127.0.0.1')
    return Number(new URL(await app.getUrl()).port)
  },
} satisfies Peer
