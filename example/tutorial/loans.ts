import {
  conflict,
  Controller,
  Delete,
  Field,
  forbidden,
  Get,
  Item,
  notFound,
  Page,
  Paginate,
  Post,
  select,
  Session,
} from 'sequitur'
import { UniqueConstraintError } from 'sequelize'
import { Book } from './book.js'
import { Loan } from './loan.js'
import { CurrentMember } from './member.js'

const DAYS = 28
const MOST_BOOKS = 3

class NewLoan {
  @Field({ type: 'integer' }) book_id!: number
}

@Controller('/loans')
export class LoanController {
  @Get('/', Page.of(Loan))
  list({ member }: CurrentMember, paginate: Paginate<Loan>) {
    return paginate(select(Loan, { where: { member_id: member.id }, include: [Book], order: ['due'] }))
  }

  @Post('/', Item.of(Loan), { errors: { 404: 'Book not found', 409: 'The book is on loan, or you have too many' } })
  async borrow({ book_id }: NewLoan, { member }: CurrentMember, session: Session) {
    const book = (await session.get(Book, book_id)) ?? notFound('Book not found')
    // Two requests of one member wait for each other here: both would count two books, and lend a third one.
    await member.reload({ lock: true })
    const loans = await session.count(select(Loan, { where: { member_id: member.id } }))
    if (loans >= MOST_BOOKS) conflict(`Bring a book back first: you have ${MOST_BOOKS}`)
    const loan = session.add(Loan.build({ book_id, member_id: member.id, due: dayAfter(DAYS) }))
    try {
      await session.flush()
    } catch (error) {
      if (error instanceof UniqueConstraintError) conflict(`${book.title} is on loan`)
      throw error
    }
    session.afterResponse(async () => console.log(`Mail to ${member.name}: ${book.title} is due on ${loan.due}`))
    return { data: loan }
  }

  @Delete('/:loan_id', { status: 204, errors: { 404: 'Loan not found' } })
  async bringBack(loan_id: number, { member }: CurrentMember, session: Session) {
    const loan = (await session.get(Loan, loan_id)) ?? notFound('Loan not found')
    if (loan.member_id !== member.id) forbidden('This is the loan of another member')
    session.delete(loan)
  }
}

/** `2026-12-24` */
function dayAfter(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
}
