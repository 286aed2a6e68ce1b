/** A line of the story. */
export type Tell = (line: string) => Promise<void>;
