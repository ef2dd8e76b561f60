/** What a part of a benchmark returns that answers questions after its start. */
export interface AnsweringPart<Question, Answer, Result> {
  result: Result;
  ask: (question: Question) => Answer | Promise<Answer>;
}
