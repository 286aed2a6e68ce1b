/** A line of the story. */
export type Narrate = (line: string) => Promise<void>;
