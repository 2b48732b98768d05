import { DataTypes } from 'sequelize'
import { BelongsTo, Column, CreatedAt, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Body,
  Collection,
  Controller,
  Delete,
  dto,
  Field,
  file,
  Get,
  Header,
  Injectable,
  Item,
  newPagination,
  Page,
  Paginate,
  Patch,
  Post,
  Put,
  Query,
  redirect,
  reply,
  Security,
  select,
  Session,
  unauthorized,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { z } from 'zod'

/*
 * An app with everything that an OpenAPI document can contain: columns of all types, unions, security, files.
 */

/** Columns of every type that Sequelize has. */
@Table({ tableName: 'everything', comment: 'All there is' })
class Everything extends Base<Everything> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING(20), unique: true, comment: 'What it is called' }) declare string: string | null
  @Column({ type: DataType.STRING, validate: { isEmail: true } }) declare email: string | null
  @Column(DataType.CHAR(5)) declare char: string | null
  @Column(DataType.TEXT) declare text: string | null
  @Column(DataType.TINYINT) declare tinyint: number | null
  @Column(DataType.SMALLINT) declare smallint: number | null
  @Column(DataType.MEDIUMINT) declare mediumint: number | null
  @Column({ type: DataType.INTEGER, defaultValue: 7 }) declare integer: number
  @Column(DataType.INTEGER.UNSIGNED) declare unsigned: number | null
  @Column(DataType.BIGINT) declare bigint: string | null
  @Column({ type: DataType.DECIMAL(12, 4), allowNull: false, defaultValue: '1.5' }) declare decimal: string
  @Column(DataType.FLOAT) declare float: number | null
  @Column(DataType.REAL) declare real: number | null
  @Column(DataType.DOUBLE) declare double: number | null
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: true }) declare boolean: boolean
  @Column(DataType.DATE(3)) declare date: Date | null
  @Column(DataType.DATEONLY) declare dateonly: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'green')) declare enumeration: 'red' | 'green' | null
  @Column(DataType.BLOB) declare blob: Buffer | null
  @Column(DataType.JSON) declare json: unknown
  @Column(DataType.JSONB) declare jsonb: unknown
  @Column(DataType.HSTORE) declare hstore: unknown
  @Column(DataType.ARRAY(DataType.STRING(3))) declare array: string[] | null
  @Column(DataType.RANGE(DataType.INTEGER)) declare range: unknown
  @Column(DataType.GEOMETRY) declare geometry: unknown
  @Column(DataType.CITEXT) declare citext: string | null
  @Column(DataType.INET) declare inet: string | null
  @Column(new DataTypes.VIRTUAL(DataTypes.STRING)) declare password: string
  @CreatedAt @Column(DataType.DATE) declare created_at: Date
  @HasMany(() => Part) declare parts: Part[]
}

@Table({ tableName: 'part', timestamps: false })
class Part extends Base<Part> {
  @Column({ type: DataType.STRING, primaryKey: true }) declare code: string
  @ForeignKey(() => Everything) @Column(DataType.INTEGER) declare everything_id: number
  @BelongsTo(() => Everything) declare everything: Everything
}

export const models = [Everything, Part]

class NewEverything extends dto(Everything, { omit: ['id', 'created_at'] }) {}
class EverythingPatch extends dto(Everything, { pick: ['integer', 'text'], partial: true }) {}
class PartDto extends dto(Part, { pick: ['code', 'everything_id'] }) {}

class Cat {
  @Field({ enum: ['cat', 'kitten'] }) kind!: 'cat' | 'kitten'
  @Field({ type: 'integer', minimum: 0, maximum: 9, example: 9 }) lives!: number
}

class Dog {
  @Field({ enum: ['dog'] }) kind!: 'dog'
  @Field({ default: new Date(0) }) born!: Date
  @Field({ oneOf: [() => Cat, () => Dog], discriminator: 'kind', optional: true, nullable: true }) friend?: unknown
}

class Household {
  @Field({ oneOf: [Cat, Dog], discriminator: 'kind', description: 'Who rules' }) first!: Cat | Dog
  @Field({ oneOf: [Cat, Dog], discriminator: 'kind', optional: true }) others?: (Cat | Dog)[]
  @Field({ type: Cat, nullable: true, description: 'Who is loved' }) darling!: Cat | null
  @Field({ type: [() => Household], optional: true, maxItems: 3 }) neighbours?: Household[]
  @Field({ type: 'bytes', deprecated: true, title: 'Sign' }) sign!: Uint8Array
  @Field({ type: 'bigint', default: 5n }) number!: bigint
  @Field({ enum: [1, 2.5, 'three'], nullable: true }) size!: 1 | 2.5 | 'three' | null
  @Field({ format: 'uuid', examples: ['5f0c1a30-3b1e-4ad8-9b0e-6a5d0f8f5c11'] }) key!: string
  @Field({ type: 'any', optional: true }) rest?: unknown
}

class Search {
  @Field({ optional: true, maxLength: 20, description: 'A part of the name' }) text?: string
  @Field({ type: [String], optional: true }) tag?: string[]
  @Field({ type: 'date', optional: true }) since?: string
}

const note = z.object({ text: z.string().min(1), at: z.iso.datetime().optional() })

@Injectable()
@Security({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Given at the login.' })
class BearerUser {
  readonly name: string
  constructor(@Header({ optional: true }) authorization?: string) {
    this.name = authorization ?? unauthorized('Who are you?')
  }
}

@Injectable()
@Security({ type: 'apiKey', in: 'header', name: 'X-Key' }, { name: 'key' })
class ApiKey {
  constructor(@Header('x-key') readonly key: string) {}
}

@Injectable()
@Security(
  {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: 'https://login.example.org/authorize',
        tokenUrl: 'https://login.example.org/token',
        scopes: { 'households:write': 'Change households' },
      },
    },
  },
  { scopes: ['households:write'] },
)
class OAuth {}

@Injectable()
@Security({ type: 'openIdConnect', openIdConnectUrl: 'https://login.example.org/.well-known/openid-configuration' })
class OpenId {}

class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}

@Controller('/everything')
class EverythingController {
  @Get('/', Page.of(Everything)) list(paginate: Paginate<Everything>) {
    return paginate(select(Everything))
  }
  @Get('/big', Page.of(Everything)) bigPages(paginate: BigPages<Everything>) {
    return paginate(select(Everything))
  }
  @Get('/by-cursor', CursorPage.of(Everything)) byCursor(paginate: CursorPaginate<Everything>) {
    return paginate(select(Everything, { order: ['string'] }))
  }
  @Get('/all', Collection.of(Part)) async all(session: Session) {
    return { data: await session.all(select(Part)) }
  }
  @Get('/:id', Item.of(Everything), { errors: { 404: 'Nothing has this id' } }) get(id: bigint) {
    return { data: id as never }
  }
  @Post('/', Item.of(Everything)) create(input: NewEverything, user: BearerUser) {
    return { data: [input, user] as never }
  }
  @Patch('/:id', Everything, { responses: { 202: 'Later', 303: 'See the other' } })
  change(id: number, input: EverythingPatch) {
    return reply([id, input] as never, { status: 202 })
  }
  @Put('/parts', [Part]) replace(@Body({ type: [PartDto], maxItems: 100 }) parts: PartDto[], key: ApiKey) {
    return [parts, key] as never
  }
  @Delete('/:id', { status: 204 }) remove(id: number, key: ApiKey, user: BearerUser) {
    void [id, key, user]
  }
}

@Controller('/households', { tags: ['Homes'] })
class HouseholdController {
  @Get('/', [Household], { deprecated: true })
  list(
    @Query() search: Search,
    @Query({ enum: ['asc', 'desc'] }) order: string = 'asc',
    @Header() accept_language: string = 'en',
  ) {
    return [search, order, accept_language] as never
  }
  @Post('/', Household, { responses: { 200: Cat, 303: 'It is there already' } })
  create(household: Household, grant: OAuth) {
    return [household, grant] as never
  }
  @Put('/:day/:at', Household) put(day: string, at: Date, @Body({ type: 'any', optional: true }) rest: unknown) {
    return [day, at, rest] as never
  }
  @Get('/pet/:key') pet(key: string, who: OpenId) {
    return [key, who]
  }
}

@Controller('/files')
class FileController {
  @Get('/report', { produces: 'text/csv' }) report() {
    return file(Buffer.from('a,b'), { type: 'text/csv' })
  }
  @Get('/elsewhere', { status: 307 }) elsewhere() {
    return redirect('/files/report', 307)
  }
  @Post('/notes', note) note(@Body({ type: note }) body: z.infer<typeof note>) {
    return body
  }
  @Post('/ping') ping() {}
  @Get('/health', String) health() {
    return 'well'
  }
}

export const controllers = [EverythingController, HouseholdController, FileController]
