/** The part of Eleventy that `scripts/docs.ts` uses; it has no types of its own. */
declare module "@11ty/eleventy" {
  interface Token {
    type: string;
    info: string;
    children: Token[] | null;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
  }
  interface Markdown {
    core: {
      ruler: {
        push(name: string, rule: (state: { tokens: Token[]; env: { source: string } }) => void): void;
      };
    };
    renderer: {
      rules: Record<string, ((tokens: Token[], index: number, ...rest: unknown[]) => string) | undefined>;
    };
  }
  export interface EleventyConfig {
    addTemplate(file: string, content: string, data: Readonly<Record<string, unknown>>): void;
    addPlugin(plugin: unknown, options: Readonly<Record<string, unknown>>): void;
    amendLibrary(name: "md", amend: (markdown: Markdown) => void): void;
    setUseGitIgnore(use: boolean): void;
    setTemplateFormats(formats: readonly string[]): void;
  }
  interface Options {
    readonly quietMode?: boolean;
    readonly configPath?: false;
    readonly config?: (config: EleventyConfig) => unknown;
  }
  export class Eleventy {
    constructor(input: string, output: string, options: Options);
    toJSON(): Promise<{ readonly url: string; readonly content: string }[]>;
  }
  export const IdAttributePlugin: unknown;
}
