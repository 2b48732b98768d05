import {
  Base,
  Controller,
  Delete,
  dto,
  Events,
  Factory,
  Field,
  file,
  Get,
  Injectable,
  Item,
  notFound,
  Page,
  Paginate,
  Path,
  Post,
  select,
  Session,
} from 'sequitur'
import { Event, Feed, Feeds } from 'sequitur/feeds'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { CurrentPerson } from '../cookie-session.js'

@Table({ tableName: 'room_member', timestamps: false })
export class RoomMember extends Base<RoomMember> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare room_id: number
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare person_id: number
}

@Table({ tableName: 'message', updatedAt: false })
export class Message extends Base<Message> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare room_id: number
  @Column({ type: DataType.STRING(100), allowNull: false }) declare author: string
  @Column({ type: DataType.STRING(500), allowNull: false }) declare text: string
  @Column({ type: DataType.DATE(3), allowNull: false }) declare createdAt: CreationOptional<Date>
}

@Event('message.posted')
export class MessagePosted extends dto(Message, { omit: ['room_id'] }) {}

@Event('message.deleted')
export class MessageDeleted {
  @Field({ type: 'integer' }) id!: number
}

class NewMessage extends dto(Message, { pick: ['text'] }) {}

/** The person who is logged in, as a member of the room in the path; for others there is no such room. */
@Injectable()
export class Member {
  constructor(
    readonly name: string,
    readonly room_id: number,
  ) {}

  /** The topic of the room. */
  get topic(): string {
    return `room-${this.room_id}`
  }

  @Factory()
  static async of({ person }: CurrentPerson, session: Session, @Path({ type: 'integer' }) room_id: number) {
    const where = { room_id, person_id: person.id }
    if (!(await session.first(select(RoomMember, { where })))) notFound('Room not found')
    return new Member(person.name, room_id)
  }
}

@Controller('/rooms/:room_id')
export class RoomController {
  @Get('/messages', Page.of(MessagePosted))
  list({ room_id }: Member, paginate: Paginate<Message>) {
    return paginate(select(Message, { where: { room_id }, order: [['id', 'DESC']] }))
  }

  @Post('/messages', Item.of(MessagePosted))
  async post({ text }: NewMessage, { name, room_id, topic }: Member, feeds: Feeds) {
    const message = await Message.create({ room_id, author: name, text })
    feeds.publish(MessagePosted, message.get(), { topic })
    return { data: message }
  }

  @Delete('/messages/:id')
  async remove(id: number, { name, room_id, topic }: Member, feeds: Feeds) {
    const count = await Message.destroy({ where: { id, room_id, author: name } })
    if (count === 0) notFound('There is no message of yours with this id')
    feeds.publish(MessageDeleted, { id }, { topic })
  }

  /** After `maxAge` the browser connects again: who is no longer a member gets a 404 then. */
  @Get('/events', Events.of(MessagePosted, MessageDeleted))
  follow({ topic }: Member, feed: Feed) {
    return feed.follow([MessagePosted, MessageDeleted], { topics: [topic], maxAge: 60_000 })
  }
}

@Controller('/chat')
export class ChatController {
  /** Without data: it asks who is not logged in for a name and a password. */
  @Get('/', { produces: 'text/html' })
  page() {
    return file(new URL('rooms.html', import.meta.url), { type: 'text/html; charset=utf-8' })
  }
}
