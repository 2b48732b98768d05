import { Op, type CreationOptional, type NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import {
  Base,
  Body,
  Collection,
  Controller,
  Cookie,
  Delete,
  dto,
  Field,
  Get,
  Header,
  Item,
  mapOf,
  notFound,
  oneOf,
  Page,
  Paginate,
  Patch,
  Path,
  Post,
  Put,
  Query,
  reply,
  select,
  Session,
} from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { z } from 'zod'

/*
 * An app with every kind of input and output, for generated and hostile requests.
 */

@Table({ tableName: 'shelf', timestamps: false })
class Shelf extends Base<Shelf> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(20), allowNull: false }) declare label: string
  @HasMany(() => Thing) declare things?: NonAttribute<Thing[]>
}

@Table({ tableName: 'thing', paranoid: true })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(20), allowNull: false, unique: true, validate: { len: [1, 10] } })
  declare name: string
  @Column({ type: DataType.CHAR(5) }) declare code: string | null
  @Column(DataType.TEXT) declare text: string | null
  @Column({ type: DataType.SMALLINT, validate: { min: 0 } }) declare small: number | null
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 7 }) declare count: CreationOptional<number>
  @Column(DataType.BIGINT) declare big: string | null
  @Column({ type: DataType.DECIMAL(7, 2), validate: { min: 0 } }) declare price: string | null
  @Column(DataType.DOUBLE) declare weight: number | null
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare flag: CreationOptional<boolean>
  @Column(DataType.DATE) declare at: Date | null
  @Column(DataType.DATEONLY) declare day: string | null
  @Column(DataType.TIME) declare time: string | null
  @Column(DataType.UUID) declare uuid: string | null
  @Column(DataType.ENUM('red', 'green')) declare colour: 'red' | 'green' | null
  @Column(DataType.BLOB) declare blob: Buffer | null
  @Column(DataType.JSON) declare json: unknown
  @Column({ type: DataType.STRING, validate: { isEmail: true } }) declare email: string | null
  @Column({ type: DataType.STRING, validate: { isIn: [['a', 'b']] } }) declare choice: string | null
  @ForeignKey(() => Shelf) @Column(DataType.INTEGER) declare shelfId: CreationOptional<number | null>
  @BelongsTo(() => Shelf) declare shelf?: NonAttribute<Shelf | null>
  @Column(DataType.VIRTUAL) declare password: CreationOptional<string | null>
  declare createdAt: CreationOptional<Date>
  declare updatedAt: CreationOptional<Date>
  declare deletedAt: CreationOptional<Date | null>
}

export const awkwardModels = [Shelf, Thing]

class NewThing extends dto(Thing, { omit: ['id', 'shelfId'] }) {}
class ThingPatch extends dto(Thing, { omit: ['id', 'shelfId'], partial: true }) {}
class ThingName extends dto(Thing, { pick: ['id', 'name', 'shelf'] }) {}
class NewShelf extends dto(Shelf, { omit: ['id'] }) {
  @Field({ type: [NewThing], maxItems: 2 }) things!: NewThing[]
}

class Filter {
  @Field({ enum: ['red', 'green'], optional: true }) colour?: 'red' | 'green'
  @Field({ enum: ['ASC', 'DESC'], default: 'ASC' }) order!: 'ASC' | 'DESC'
  @Field({ type: ['integer'], optional: true, maxItems: 3 }) ids?: number[]
  @Field({ type: 'decimal', optional: true }) above?: string
  @Field({ optional: true }) since?: Date
}

const ERRORS = { errors: { 404: 'There is none', 409: 'The name is taken' } } as const

@Controller('/things')
class Things {
  @Get('/', Page.of(Thing)) list(paginate: Paginate<Thing>, @Query() filter: Filter) {
    const where = filter.colour ? { colour: filter.colour } : {}
    return paginate(select(Thing, { where, include: [Shelf], order: [['count', filter.order]] }))
  }
  @Get('/cursor', CursorPage.of(ThingName)) cursor(paginate: CursorPaginate<ThingName>) {
    return paginate(select(Thing, { order: [['count', 'DESC'], 'name'] }))
  }
  @Get('/:id', Item.of(Thing), ERRORS) async get(id: number) {
    return { data: (await Thing.findByPk(id, { include: [Shelf] })) ?? notFound() }
  }
  @Post('/', Item.of(Thing), ERRORS) async create(input: NewThing, session: Session) {
    const thing = session.add(Thing.build(input as never))
    await session.flush()
    return { data: thing }
  }
  @Patch('/:id', Thing, ERRORS) async change(id: number, input: ThingPatch) {
    const thing = (await Thing.findByPk(id)) ?? notFound()
    return thing.update({ ...input } as never)
  }
  @Put('/:id', ThingName, { ...ERRORS, responses: { 201: ThingName } }) async put(
    @Path({ type: 'integer', minimum: 1000, maximum: 5000 }) id: number,
    input: NewThing,
  ) {
    const known = await Thing.findByPk(id)
    if (known) return known.update({ ...input } as never)
    return reply(await Thing.create({ ...input, id } as never), { status: 201 })
  }
  @Delete('/:id', ERRORS) async delete(id: number) {
    await ((await Thing.findByPk(id)) ?? notFound()).destroy()
  }
  @Post('/many', [Thing], { errors: { 409: 'A name is taken' } }) many(
    @Body({ type: [NewThing], minItems: 1, maxItems: 3 }) things: NewThing[],
  ) {
    return Promise.all(things.map((thing) => Thing.create(thing as never)))
  }
}

@Controller('/shelves')
class Shelves {
  @Get('/', Collection.of(Shelf)) async list(@Query({ optional: true, maxLength: 5 }) label?: string) {
    const where = label === undefined ? {} : { label: { [Op.startsWith]: label } }
    return { data: await Shelf.findAll({ where, include: [Thing] }) }
  }
  @Post('/', Item.of(Shelf), { errors: { 409: 'A name is taken' } }) async create(input: NewShelf) {
    return { data: await Shelf.create(input as never, { include: [Thing] }) }
  }
}

class Circle {
  @Field({ enum: ['circle'] }) kind!: 'circle'
  @Field({ type: 'number', exclusiveMinimum: 0 }) radius!: number
}
class Group {
  @Field({ enum: ['group', 'list'] }) kind!: 'group' | 'list'
  @Field({ type: [() => Figure], maxItems: 3 }) members!: unknown[]
  @Field({ pattern: /^[a-z]+$/, optional: true, nullable: true, type: 'string' }) name?: string | null
}
const Figure = oneOf([Circle, Group], { discriminator: 'kind', name: 'Figure' })

class Odd {
  @Field({ type: Figure }) figure!: Circle | Group
  @Field({ type: z.object({ a: z.string().min(1), b: z.array(z.number()).max(2).optional() }) }) zod!: object
  @Field({ type: 'any' }) anything: unknown
  @Field({ type: 'bytes', optional: true }) bytes?: Buffer
  @Field({ type: 'bigint', nullable: true }) big!: bigint | null
  @Field({ type: [['integer']] as never, optional: true }) matrix?: number[][]
  @Field({ default: 3, type: 'integer', minimum: 1, maximum: 5 }) stars!: number
  @Field({ type: 'string' }) declare toString: never
  @Field({ type: 'date', optional: true }) constructor_day?: string
  @Field({ type: mapOf(Figure, { maxProperties: 3 }), optional: true }) figures?: Record<string, Circle | Group>
}

const Zodded = z.object({ id: z.uuid(), tags: z.array(z.enum(['x', 'y'])), n: z.number().int().nullable() })

@Controller('/odd')
class Odds {
  @Post('/', Odd) echo(@Body() odd: Odd) {
    return odd
  }
  @Post('/days', mapOf('date-time')) days(@Body({ type: mapOf('date-time') }) days: Record<string, Date>) {
    return days
  }
  @Post('/figures', Page.of(Figure)) figures(@Body({ type: [Figure] }) figures: (Circle | Group)[]) {
    const meta = { offset: 0, total_items: figures.length, total_pages: 1, page_number: 1 }
    return { data: figures, meta }
  }
  @Post('/zod', Item.of(Zodded)) zod(@Body({ type: Zodded }) data: z.infer<typeof Zodded>) {
    return { data }
  }
  @Get('/:id/:day', { responses: { 202: 'Later' } }) values(
    @Path({ format: 'uuid' }) id: string,
    day: Date,
    @Header({ type: 'integer', minimum: 0, optional: true }) x_level?: number,
    @Cookie({ type: 'integer', maximum: 99, optional: true }) visits?: number,
    @Cookie('who', { minLength: 2, optional: true }) who?: string,
    @Header({ type: [String], optional: true, maxItems: 2 }) x_tag?: string[],
    @Query({ type: z.coerce.number().int().min(1), optional: true }) page?: number,
    @Query({ type: [Boolean], optional: true }) flag?: boolean[],
    limit: bigint = 5n,
  ) {
    return { id, day, x_level, x_tag, page, flag, limit: String(limit) }
  }
}

export const awkwardControllers = [Things, Shelves, Odds]
