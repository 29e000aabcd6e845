// Owns the one way in which a checker says that something is wrong: which checker, and what.

export class Violation extends Error {
  override readonly name = 'Violation';
  readonly checker: string;
  constructor(checker: string, message: string) {
    super(message);
    this.checker = checker;
  }
}
