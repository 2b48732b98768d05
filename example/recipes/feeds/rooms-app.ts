import { createApp, newLifespan, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { CookieSessionController, hashPassword, Login, Person, sameSite } from '../cookie-session.js'
import { ChatController, Message, RoomController, RoomMember } from './rooms.js'

const app = createApp({
  controllers: [CookieSessionController, RoomController, ChatController],
  models: [Person, Login, RoomMember, Message, FeedEvent],
  middleware: [sameSite],
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///./rooms.sqlite', sync: true }),
})
await app.start()

// The first members of room 1.
await withSession(async () => {
  if ((await Person.count()) > 0) return
  for (const name of ['Robin', 'Alfred']) {
    const { id } = await Person.create({ name, password_hash: await hashPassword('password') })
    await RoomMember.create({ room_id: 1, person_id: id })
  }
})
await app.listen(Number(process.env['PORT'] ?? 8000))
