import { Controller, dto, Get, Header, Post, Query, Session } from 'sequitur'
import { Hero } from '../hero.js'

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/greetings')
export class GreetingController {
  @Get('/:name')
  greet(name: string, @Query({ enum: ['hi', 'hello'], default: 'hello' }) word: string, @Header() user_agent: string) {
    return { text: `${word}, ${name}!`, user_agent } // /greetings/Robin?word=hi
  }

  @Post('/', { name: String })
  create(input: NewHero, session: Session) {
    session.add(Hero.build(input)) // input is the JSON body
    return { name: input.name }
  }
}
