import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import {
  BelongsTo,
  BelongsToMany,
  Column,
  DataType,
  ForeignKey,
  HasMany,
  Model,
  Sequelize as TypescriptSequelize,
  Table,
} from 'sequelize-typescript'
import {
  Base,
  Body,
  Controller,
  createApp,
  dto,
  Field,
  Get,
  Header,
  Inject,
  Injectable,
  Item,
  newLifespan,
  oneOf,
  Page,
  Paginate,
  Path,
  Post,
  provide,
  Query,
  Security,
  select,
  token,
  Transactional,
} from 'sequitur'
import { Rows } from 'sequitur/exports'
import { memoryDatabase } from 'sequitur/testing'

/*
 * Wrong programs, and the exact message that each stops with: what is wrong, where, and what to write.
 */

@Controller('/')
class Right {
  @Get('/') get() {}
}

class Clock {}
class Unfielded {
  name!: string
}

@Table({ tableName: 'room', timestamps: false })
class Room extends Base<Room> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}
@Table({ tableName: 'forgotten', timestamps: false })
class Forgotten extends Base<Forgotten> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}
class RoomDto extends dto(Room, { pick: ['id'] }) {}

@Table({ tableName: 'room', timestamps: false })
class Chamber extends Base<Chamber> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
}
function otherRoom() {
  @Table({ tableName: 'other_room', timestamps: false })
  class Room extends Base<Room> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  }
  return Room
}
@Table({ tableName: 'booking', timestamps: false })
class Booking extends Base<Booking> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @ForeignKey(() => Room) @Column(DataType.INTEGER) declare room_id: number
  @BelongsTo(() => Room) declare room?: Room
}
@Table({ tableName: 'membership', timestamps: false })
class Membership extends Base<Membership> {
  @ForeignKey(() => Club) @Column({ type: DataType.INTEGER, primaryKey: true }) declare club_id: number
  @ForeignKey(() => Room) @Column({ type: DataType.INTEGER, primaryKey: true }) declare room_id: number
}
@Table({ tableName: 'club', timestamps: false })
class Club extends Base<Club> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @BelongsToMany(() => Room, () => Membership)
  declare rooms?: Room[]
}
@Table({ tableName: 'house', timestamps: false })
class House extends Base<House> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @HasMany(() => Room) declare rooms?: Room[]
}
@Table({ tableName: 'lost', timestamps: false })
class Lost extends Base<Lost> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @BelongsTo(() => undefined as never, 'id') declare room?: unknown
}
class Untabled extends Model {}

/** Calls a handler's parameter decorator, and so on, without parentheses, as a program without a type check may. */
const uncalled = {
  Controller: Controller as unknown as ClassDecorator,
  Injectable: Injectable as unknown as ClassDecorator,
  Security: Security as unknown as ClassDecorator,
  Transactional: Transactional as unknown as ClassDecorator & MethodDecorator,
  Get: Get as unknown as MethodDecorator,
  Post: Post as unknown as MethodDecorator,
  Field: Field as unknown as PropertyDecorator,
  Path: Path as unknown as ParameterDecorator,
  Query: Query as unknown as ParameterDecorator,
  Header: Header as unknown as ParameterDecorator,
  Body: Body as unknown as ParameterDecorator,
  Inject: Inject as unknown as ParameterDecorator,
}

const opened: { close(): Promise<void> }[] = []
after(() => Promise.all(opened.map((one) => one.close())))

function app(options: object) {
  const made = createApp({ controllers: [Right], logger: false, ...options })
  opened.push(made)
  return made
}

const models = (...classes: readonly unknown[]) =>
  app({ lifespan: memoryDatabase({ models: classes as never }) }).start()
const handlers = (controller: new (...args: never[]) => unknown) => app({ controllers: [controller] })
const clock = token<string>('clock')

const programs: readonly (readonly [wrong: string, start: () => unknown, message: string])[] = [
  // Models
  [
    'two models with one table',
    () => models(Room, Chamber),
    'The models Room and Chamber have the same table, room. Correct the tableName of one of them; for a part of the rows write a scope of one model: @Scopes(() => ({ ... })).',
  ],
  [
    'two models with one class name',
    () => models(Room, otherRoom()),
    "Two models have the name Room. Rename one of the classes, or write @Table({ modelName: 'OtherRoom' }).",
  ],
  [
    'a model with the name of one that the instance has',
    () => {
      const sequelize = new TypescriptSequelize({ dialect: 'sqlite', logging: false, models: [otherRoom()] })
      return app({ lifespan: newLifespan(sequelize, { models: [Room] }) }).start()
    },
    "Two models have the name Room. Rename one of the classes, or write @Table({ modelName: 'OtherRoom' }).",
  ],
  [
    'a model that another one belongs to, forgotten in models',
    () => models(Booking),
    'Booking.room refers to the model Room, which is not among the models of this database. Add it: models: [Booking, Room].',
  ],
  [
    'a model that another one has many of, forgotten in models',
    () => models(House),
    'House.rooms refers to the model Room, which is not among the models of this database. Add it: models: [House, Room].',
  ],
  [
    'the through model, forgotten in models',
    () => models(Club, Room),
    'The models cannot be mapped: Membership has not been defined. Add the model: models: [Membership].',
  ],
  [
    'an association without a foreign key',
    () => models(House, Room),
    'The models cannot be mapped: Foreign key for "House" is missing on "Room". Write @ForeignKey(() => House) on the column of Room that refers to it.',
  ],
  [
    'an association with a class that is not loaded yet',
    () => models(Lost),
    'Lost.room: the class of the association is undefined. Either its name is misspelt, or it is not loaded yet because two files import each other: move what both need into a third file.',
  ],
  [
    'a class among the models that is none',
    () => models(Clock),
    'models: Clock is not a model. Write @Table() class Clock extends Base<Clock>.',
  ],
  [
    'a model without @Table',
    () => models(Untabled),
    'The models cannot be mapped: @Table annotation is missing on class "Untabled". Write @Table. A model of Model.init() has a Sequelize instance already: write newLifespan(sequelize), and leave the model out of models.',
  ],
  [
    'a response model that is forgotten in models',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', Item.of(Room)) get() {
          return { data: Room.build({ id: 1 }) }
        }
      }
      return app({ controllers: [Rooms], lifespan: memoryDatabase() }).start()
    },
    'Room, which Rooms.get returns, is a model of no database. Add it: createApp({ models: [Room] }).',
  ],
  [
    'a model of a dto in a response, forgotten in models',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', [RoomDto]) list() {
          return []
        }
      }
      return app({ controllers: [Rooms], lifespan: memoryDatabase() }).start()
    },
    'Room, which Rooms.list returns, is a model of no database. Add it: createApp({ models: [Room] }).',
  ],
  [
    'a model of a dto in a body, forgotten in models',
    () => {
      @Controller('/')
      class Rooms {
        @Post('/') add(@Body({ type: [RoomDto] }) _rooms: RoomDto[]) {}
      }
      return app({ controllers: [Rooms], lifespan: memoryDatabase() }).start()
    },
    'Room, which Rooms.add takes, is a model of no database. Add it: createApp({ models: [Room] }).',
  ],
  [
    'models without a lifespan',
    () => app({ models: [Room] }),
    'createApp(): models without lifespan have no database. Write lifespan, which reads the environment, or newLifespan(url).',
  ],

  // Handlers
  [
    '@Get beside @Post',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') @Post('/') both() {}
      }
      return Rooms
    },
    '@Get() on Rooms.both: the method has a route already, POST /. Write a method for each route; one may call the other.',
  ],
  [
    'rows without names',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', Rows.of('string')) list(): never {
          throw new Error()
        }
      }
      return handlers(Rooms)
    },
    'Rooms.list: Rows.of() declares rows without names for the columns of CSV. Write a class with fields, a model, or a dto: Rows.of(HeroRow).',
  ],
  [
    'rows with another status',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', Rows.of(Room), { status: 202 }) list(): never {
          throw new Error()
        }
      }
      return handlers(Rooms)
    },
    'Rooms.list declares a stream of items, and the option status. Remove it: a stream has the status 200, and media types of its own.',
  ],
  [
    'rows inside of another response',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', Item.of(Rows.of(Room))) list(): never {
          throw new Error()
        }
      }
      return handlers(Rooms)
    },
    "Rooms.list, its response: Rows.of() is only the response of a route: @Get('/export', Rows.of(HeroRow)). Nothing can contain it, and 'responses' cannot list it.",
  ],
  [
    'no exports at once',
    () => Rows.of(Room, { atOnce: 0 }),
    'Rows.of(): atOnce is 0. Write a whole number of exports, from 1 to 10000.',
  ],
  [
    'a static handler',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') static list() {}
      }
      return Rooms
    },
    "@Get() on Rooms.list: a static method is not a handler. Remove 'static'.",
  ],
  [
    '@Body on GET',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(@Body({ type: 'any' }) _filter: unknown) {}
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 '_filter': a GET request has no body. Write @Query() instead of @Body(), or @Post() instead of @Get().",
  ],
  [
    '@Body of a class without fields',
    () => {
      @Controller('/')
      class Rooms {
        @Post('/') add(@Body() _room: Unfielded) {}
      }
      return handlers(Rooms)
    },
    "Rooms.add, parameter 1 '_room': the class Unfielded has no fields, so that nothing of it would be read. Put @Field() on its properties.",
  ],
  [
    '@Query of a class without fields',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(@Query() _filter: Unfielded) {}
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 '_filter': the class Unfielded has no fields, so that nothing of it would be read. Put @Field() on its properties.",
  ],
  [
    'two parameters of one query parameter, of different types',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(@Query('q') a: number, @Query('q') b: string) {
          return [a, b]
        }
      }
      return handlers(Rooms)
    },
    "Rooms.list reads the query parameter 'q' twice, with different schemas: " +
      'Rooms.list, parameter 1 \'a\' as {"type":"number"}, Rooms.list, parameter 2 \'b\' as {"type":"string"}. ' +
      'Write the same schema for both, or another name for one of them.',
  ],
  [
    'a class of headers and an injected class that read one header differently',
    () => {
      class Trace {
        @Field({ maxLength: 8 }) x_trace!: string
      }
      @Injectable()
      class Tracer {
        constructor(@Header('X-Trace') readonly id: string) {}
      }
      @Controller('/')
      class Rooms {
        @Get('/') list(@Header() trace: Trace, tracer: Tracer) {
          return [trace.x_trace, tracer.id]
        }
      }
      return handlers(Rooms)
    },
    "Rooms.list reads the header 'x-trace' twice, with different schemas: " +
      'Rooms.list, parameter 1 \'trace\', property \'x_trace\' as {"type":"string","maxLength":8}, ' +
      'Tracer constructor, parameter 1 \'id\' as {"type":"string"}. Write the same schema for both, or another name for one of them.',
  ],
  [
    'a getter without a setter in a class in a body',
    () => {
      class Bed {
        @Field() width!: number
        @Field() get isWide(): boolean {
          return this.width > 100
        }
      }
      class Furniture {
        @Field() bed!: Bed
      }
      @Controller('/')
      class Rooms {
        @Post('/') add(furniture: Furniture) {
          return furniture.bed.width
        }
      }
      return handlers(Rooms)
    },
    "Rooms.add, parameter 1 'furniture', Bed.isWide: a getter without a setter cannot be received. " +
      'Write a property, @Field() isWide!: ..., or add a setter. If only responses have it, use another class as the input: ' +
      "class BedInput extends dto(Bed, { omit: ['isWide'] }) {}.",
  ],
  ...([200, 302, 42, 600] as const).map(
    (status) =>
      [
        `a documented error with the status ${status}`,
        () => {
          @Controller('/')
          class Rooms {
            @Get('/', { errors: { [status]: 'Done' } }) list() {}
          }
          return handlers(Rooms)
        },
        `Rooms.list: errors has the status ${status}. Write the status of an error, 400 to 599; for another success, write responses: { ${status}: ... }.`,
      ] as const,
  ),
  [
    'a handler that is a getter',
    () => {
      class Rooms {
        @Get('/') get all() {
          return () => []
        }
      }
      return Rooms
    },
    '@Get() on Rooms.all: an accessor is not a handler. Write a method: all() { ... }.',
  ],
  [
    'a handler that is a property',
    () => {
      class Rooms {
        @(Get('/') as unknown as PropertyDecorator) all = () => []
      }
      return Rooms
    },
    '@Get() on Rooms.all: a property is not a handler. Write a method: all() { ... }.',
  ],
  [
    'an optional path variable',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/:id') get(@Path({ optional: true }) id?: number) {
          return id
        }
      }
      return handlers(Rooms)
    },
    "Rooms.get, parameter 1 'id': the path always has its variable :id. Remove optional: true, or write a second route without the variable.",
  ],
  [
    'a path variable with a default in its decorator',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/:id') get(@Path({ default: 1 }) id: number) {
          return id
        }
      }
      return handlers(Rooms)
    },
    "Rooms.get, parameter 1 'id': the path always has its variable :id. Remove the default, or write a second route without the variable.",
  ],
  [
    'a path variable with a default',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/:id') get(id: number = 1) {
          return id
        }
      }
      return handlers(Rooms)
    },
    "Rooms.get, parameter 1 'id': the path always has its variable :id. Remove the default, or write a second route without the variable.",
  ],
  [
    'a field with two defaults',
    () => {
      class Room {
        @Field({ default: 4 }) beds: number = 3
      }
      @Controller('/')
      class Rooms {
        @Post('/') add(room: Room) {
          return room.beds
        }
      }
      return handlers(Rooms)
    },
    'Room.beds has two defaults, 4 in its decorator and 3 after its name. Remove one of them.',
  ],
  [
    'a parameter with two defaults',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(@Query({ default: 4 }) beds: number = 3) {
          return beds
        }
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 'beds' has two defaults, 4 in its decorator and 3 after its name. Remove one of them.",
  ],
  [
    'oneOf() without classes',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/', oneOf([], { discriminator: 'kind' as never, name: 'Room' })) get(): never {
          throw new Error('no room')
        }
      }
      return handlers(Rooms)
    },
    'Rooms.get, its response: Room: oneOf is empty. Write the classes: [Cat, Dog].',
  ],
  [
    'Request without its import',
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(_request: globalThis.Request) {}
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 '_request' has the type Request, which nothing provides. It is the class of fetch(). Import the one of the app: import { Request } from 'sequitur'.",
  ],
  [
    "Node's request",
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(_request: IncomingMessage) {}
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 '_request' has the type IncomingMessage, which nothing provides. Inject Request of 'sequitur': its property raw is Node's request.",
  ],
  [
    "Node's response",
    () => {
      @Controller('/')
      class Rooms {
        @Get('/') list(_response: ServerResponse) {}
      }
      return handlers(Rooms)
    },
    "Rooms.list, parameter 1 '_response' has the type ServerResponse, which nothing provides. A handler returns its result; reply(data, { status, headers }) sets the status and headers.",
  ],

  // Decorators without parentheses
  [
    '@Controller without ()',
    () => {
      @uncalled.Controller
      class Rooms {}
      return Rooms
    },
    "@Controller on Rooms is not called. Write its parentheses: @Controller('/path').",
  ],
  [
    '@Injectable without ()',
    () => {
      @uncalled.Injectable
      class Service {}
      return Service
    },
    '@Injectable on Service is not called. Write its parentheses: @Injectable().',
  ],
  [
    '@Security without ()',
    () => {
      @uncalled.Security
      class User {}
      return User
    },
    "@Security on User is not called. Write its parentheses: @Security({ type: 'http', scheme: 'bearer' }).",
  ],
  [
    '@Transactional without (), on a class',
    () => {
      @uncalled.Transactional
      class Rooms {}
      return Rooms
    },
    '@Transactional on Rooms is not called. Write its parentheses: @Transactional({ readOnly: true }).',
  ],
  [
    '@Transactional without (), on a handler',
    () => {
      class Rooms {
        @uncalled.Transactional list() {}
      }
      return Rooms
    },
    '@Transactional on Rooms.list is not called. Write its parentheses: @Transactional({ readOnly: true }).',
  ],
  ...(['Get', 'Post'] as const).map(
    (name) =>
      [
        `@${name} without ()`,
        () => {
          class Rooms {
            @(uncalled[name]) list() {}
          }
          return Rooms
        },
        `@${name} on Rooms.list is not called. Write its parentheses: @${name}('/').`,
      ] as const,
  ),
  [
    '@Field without ()',
    () => {
      class Input {
        @uncalled.Field name!: string
      }
      return Input
    },
    '@Field on Input.name is not called. Write its parentheses: @Field().',
  ],
  ...(['Path', 'Query', 'Header', 'Body'] as const).map(
    (name) =>
      [
        `@${name} without ()`,
        () => {
          class Rooms {
            list(@(uncalled[name]) _id: number) {}
          }
          return Rooms
        },
        `@${name} on Rooms.list is not called. Write its parentheses: @${name}().`,
      ] as const,
  ),
  [
    '@Inject without ()',
    () => {
      class Service {
        constructor(@uncalled.Inject readonly room: Clock) {}
      }
      return Service
    },
    '@Inject on Service is not called. Write its parentheses: @Inject(token).',
  ],
  [
    'two schemes of one name on a class',
    () => {
      @Security({ type: 'http', scheme: 'bearer' })
      @Security({ type: 'http', scheme: 'basic' })
      class User {}
      return User
    },
    "Two security schemes of User have the name User. Rename one: @Security({ ... }, { name: '...' }).",
  ],
  [
    '@Security on a handler',
    () => {
      class Rooms {
        @(Security({ type: 'http', scheme: 'bearer' }) as MethodDecorator) list() {}
      }
      return Rooms
    },
    '@Security() on Rooms.list: it documents a class that authenticates, and guards nothing by itself. ' +
      'Put it on a class whose constructor reads the request, such as class User, and inject that: list(user: User) { ... }.',
  ],
  [
    '@Security on a controller that reads no request',
    () => {
      @Security({ type: 'http', scheme: 'bearer' })
      @Controller('/')
      class Rooms {
        @Get('/') list() {}
      }
      return handlers(Rooms)
    },
    'Rooms has @Security, but is created once for the app, so that it checks no request, and OpenAPI would not document it. ' +
      'Put it on a class whose constructor reads the request, such as class User, and inject that: constructor(user: User) in Rooms, or as a parameter of the handlers.',
  ],
  [
    '@Security on an injected class of the app',
    () => {
      @Injectable({ lifetime: 'application' })
      @Security({ type: 'http', scheme: 'bearer' })
      class User {}
      @Controller('/')
      class Rooms {
        @Get('/') list(_user: User) {}
      }
      return handlers(Rooms)
    },
    'User has @Security, but is created once for the app, so that it checks no request, and OpenAPI would not document it. ' +
      'Read the request in its constructor, constructor(@Header({ optional: true }) authorization?: string) { ... }, and remove its lifetime.',
  ],

  // Options
  [
    'middleware for a path without use',
    () => app({ middleware: [{ path: '/x' }] }),
    "createApp(): middleware[0]: use is missing. Write the middleware of the path: { path: '/x', use: guard }.",
  ],
  [
    'servers that are no list',
    () => app({ servers: { url: '/' } as never }),
    "createApp(): servers takes a list, got an object with url. Write [{ url: 'https://api.example.com' }].",
  ],
  [
    'a tag of the document that is a string',
    () => app({ tags: ['Heroes' as never] }),
    "createApp(): tags[0] is 'Heroes'. Write an object, as in { name: 'Heroes' }.",
  ],
  [
    'a tag of a controller that is no list',
    () => Controller('/', { tags: 'Heroes' as never })(class Heroes {}),
    "@Controller() on Heroes: tags takes a list, got a string. Write ['Heroes'].",
  ],
  [
    'a tag of a route that is no list',
    () => {
      @Controller('/')
      class Heroes {
        @Get('/', { tags: 'Heroes' as never }) list() {}
      }
      return app({ controllers: [Heroes] })
    },
    "Heroes.list: tags takes a list, got a string. Write ['Heroes'].",
  ],
  [
    'two providers of one token',
    () =>
      app({
        providers: [provide(clock, { value: 'a' }), provide(Clock, { value: 'b' }), provide(clock, { value: 'c' })],
      }),
    'createApp(): providers[2] and providers[0] both provide clock. Remove one of them.',
  ],
  [
    'a short secret in an app without pages by cursor',
    () => app({ cursorSecret: 'secret' }),
    'createApp(): cursorSecret has 6 characters, which can be guessed: at least 16 are required. ' +
      'Set createApp({ cursorSecret }) or the environment variable toolkit_cursor_secret, the same in all processes, to the output of `openssl rand -base64 32`.',
  ],
  ...(['abc', '8000', NaN, -1, 70_000, 1.5, null, {}] as const).map(
    (port) =>
      [
        `listen(${JSON.stringify(port)})`,
        () => app({}).listen(port as never),
        `listen(): the port is ${typeof port === 'string' ? `'${port}'` : typeof port === 'object' && port ? 'an object with no properties' : String(port)}. ` +
          'Write a whole number from 0 to 65535, such as 8000, or 0 for any free port.',
      ] as const,
  ),
  ...(['', null, 80] as const).map(
    (host) =>
      [
        `listen(0, ${JSON.stringify(host)})`,
        () => app({}).listen(0, host as never),
        `listen(): the host is ${host === '' ? "''" : String(host)}. Write '127.0.0.1', or '0.0.0.0' to accept connections from other machines.`,
      ] as const,
  ),
]

for (const [wrong, start, message] of programs) {
  test(`${wrong} stops the start`, async () => {
    // Twice: what is known of a class from the first start must not hide the mistake.
    for (let starts = 0; starts < 2; starts++)
      await assert.rejects(
        async () => start(),
        (error: Error) => {
          assert.equal(error.message, message)
          assert.match(error.name, /^(?:Boot|Injection)Error$/)
          return true
        },
      )
  })
}

test('one model of two databases, and two models with their own tables, start', async (t) => {
  const databases = [memoryDatabase({ models: [Room] }), memoryDatabase({ models: [otherRoom(), Chamber] })]
  for (const database of databases) {
    await database.start()
    t.after(() => database.stop())
  }
})

test('a model that is forgotten in models, and that only a statement names, is named by its error', async () => {
  class Id {
    @Field({ type: 'integer' }) id!: number
  }
  @Controller('/')
  class Rooms {
    @Get('/', Page.of(Id)) list(paginate: Paginate<Id>) {
      return paginate(select(Forgotten))
    }
  }
  const lines: string[] = []
  const logger = { info() {}, warn() {}, error: (line: string) => void lines.push(line) }
  const { statusCode } = await app({ controllers: [Rooms], lifespan: memoryDatabase(), logger }).inject('/')
  assert.equal(statusCode, 500)
  assert.match(lines.join(), /Forgotten is a model of no database\. Add it: createApp\(\{ models: \[Forgotten\] \}\)\./)
})
