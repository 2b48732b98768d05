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
import { TypeOrmModule } from '@nestjs/typeorm'
import { IsInt, IsString, Max, Min } from 'class-validator'
import { Type } from 'class-transformer'
import { Column, DataSource, Entity, PrimaryGeneratedColumn, QueryFailedError } from 'typeorm'
import { pageMeta, type Peer, POOL_SIZE } from './support/peer.js'

@Entity('hero')
class Hero {
  @Column({ type: 'varchar', length: 255, unique: true }) name!: string
  @Column({ type: 'varchar', length: 255 }) secret_identity!: string
  @Column({ type: 'integer' }) age!: number
  @PrimaryGeneratedColumn('identity', { generatedIdentity: 'BY DEFAULT' }) id!: number
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
  constructor(private readonly source: DataSource) {}

  list(offset: number, limit: number) {
    return this.source.transaction(async (manager) => {
      const [data, total] = await manager.findAndCount(Hero, { order: { id: 'ASC' }, skip: offset, take: limit })
      return { data, meta: pageMeta(offset, limit, total) }
    })
  }

  get(id: number) {
    return this.source.transaction((manager) => manager.findOneBy(Hero, { id }))
  }

  create(input: HeroInput) {
    return this.source.transaction((manager) => manager.save(manager.create(Hero, { ...input })))
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
      if (error instanceof QueryFailedError && error.driverError.code === '23505')
        throw new ConflictException('Duplicate hero name')
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
  title: 'NestJS (Fastify) + TypeORM',
  databases: ['postgres'],
  async start(database) {
    const app = await NestFactory.create<NestFastifyApplication>(
      database
        ? {
            module: HelloModule,
            imports: [
              TypeOrmModule.forRoot({
                type: 'postgres',
                url: database.url,
                entities: [Hero],
                poolSize: POOL_SIZE,
              }),
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
