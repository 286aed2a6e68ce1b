const english = {
  given: "The given data was invalid.",
  required: "The :attribute field is required.",
  string: "The :attribute field must be a string.",
  integer: "The :attribute field must be an integer.",
  numeric: "The :attribute field must be a number.",
  boolean: "The :attribute field must be true or false.",
  array: "The :attribute field must be an array.",
  date: "The :attribute field must match the format Y-m-d.",
  email: "The :attribute field must be a valid email address.",
  url: "The :attribute field must be a valid URL.",
  uuid: "The :attribute field must be a valid UUID.",
  in: "The selected :attribute is invalid.",
  exists: "The selected :attribute is invalid.",
  unique: "The :attribute has already been taken.",
  prohibited: "The :attribute field is prohibited.",
  max_string: "The :attribute field must not be greater than :limit characters.",
  min_string: "The :attribute field must be at least :limit characters.",
  max_number: "The :attribute field must not be greater than :limit.",
  min_number: "The :attribute field must be at least :limit.",
  max_array: "The :attribute field must not have more than :limit items.",
  min_array: "The :attribute field must have at least :limit items.",
  exactly_one: "Exactly one of :fields must be present.",
  not_together: "The :attribute field must not be sent together with :other.",
  not_after: "The :attribute field must be a date before or equal to :other.",
  not_before: "The :attribute field must be a date after or equal to :other.",
  too_far: "The :attribute field must lie after 2009-01-01 and less than one year ahead.",
  iban: "The :attribute is not a valid IBAN.",
  no_primary_account: "Company has no primary bank account configured.",
  not_negative: "The total of a credit note must be negative.",
  stock: "There is not enough of :item in the warehouse: :available available, :wanted wanted.",
  not_stocked: "The selected :attribute is not tracked in a warehouse.",
  counter: "The :attribute field must contain a counter token such as (CCC).",
  last_warehouse: "The last warehouse cannot be deleted.",
  warehouse_used: "A warehouse with receipts cannot be deleted.",
  payment_receipt: "A payment of a payment receipt cannot be deleted.",
  zero: "The :attribute field must not be zero.",
  https: "The :attribute field must use https.",
  credentials: "The :attribute field must not contain a user name or a password.",
  public_address: "The host of :attribute must be a public address.",
  upload_token: "The upload token is unknown or was used already.",
  no_attachments: "Attachments are not supported for this event type.",
  allocations: "The allocated quantity must equal the quantity of the item.",
  linked: "The selected :attribute is already linked to another document.",
  color: "The :attribute field must be a hex color.",
} as const;

/** The name of a message. */
export type MessageKey = keyof typeof english;

/** What is wrong with one field of a request. */
export interface Problem {
  readonly field: string;
  readonly key: MessageKey;
  readonly values?: Readonly<Record<string, string | number>>;
}

/** Key, Slovak, Czech. Keys without a line, and other languages, have English messages. */
const translations = `
given | Zadané údaje nie sú platné. | Zadané údaje nejsou platné.
required | Pole :attribute je povinné. | Pole :attribute je povinné.
string | Pole :attribute musí byť text. | Pole :attribute musí být text.
integer | Pole :attribute musí byť celé číslo. | Pole :attribute musí být celé číslo.
numeric | Pole :attribute musí byť číslo. | Pole :attribute musí být číslo.
boolean | Pole :attribute musí byť áno alebo nie. | Pole :attribute musí být ano nebo ne.
array | Pole :attribute musí byť zoznam. | Pole :attribute musí být seznam.
date | Pole :attribute musí mať formát Y-m-d. | Pole :attribute musí mít formát Y-m-d.
email | Pole :attribute musí byť platná e-mailová adresa. | Pole :attribute musí být platná e-mailová adresa.
url | Pole :attribute musí byť platná adresa URL. | Pole :attribute musí být platná adresa URL.
uuid | Pole :attribute musí byť platné UUID. | Pole :attribute musí být platné UUID.
in | Vybraná hodnota poľa :attribute nie je platná. | Zvolená hodnota pole :attribute není platná.
exists | Vybraná hodnota poľa :attribute nie je platná. | Zvolená hodnota pole :attribute není platná.
unique | Hodnota poľa :attribute sa už používa. | Hodnota pole :attribute se již používá.
prohibited | Pole :attribute nie je dovolené. | Pole :attribute není dovoleno.
max_string | Pole :attribute nesmie mať viac ako :limit znakov. | Pole :attribute nesmí mít více než :limit znaků.
min_string | Pole :attribute musí mať aspoň :limit znakov. | Pole :attribute musí mít alespoň :limit znaků.
max_number | Pole :attribute nesmie byť väčšie ako :limit. | Pole :attribute nesmí být větší než :limit.
min_number | Pole :attribute musí byť aspoň :limit. | Pole :attribute musí být alespoň :limit.
max_array | Pole :attribute nesmie mať viac ako :limit položiek. | Pole :attribute nesmí mít více než :limit položek.
min_array | Pole :attribute musí mať aspoň :limit položiek. | Pole :attribute musí mít alespoň :limit položek.
exactly_one | Musí byť zadané práve jedno z polí :fields. | Musí být zadáno právě jedno z polí :fields.
not_together | Pole :attribute sa nesmie posielať spolu s poľom :other. | Pole :attribute se nesmí posílat spolu s polem :other.
not_after | Dátum :attribute nesmie byť neskorší ako :other. | Datum :attribute nesmí být pozdější než :other.
not_before | Dátum :attribute nesmie byť skorší ako :other. | Datum :attribute nesmí být dřívější než :other.
iban | Pole :attribute nie je platný IBAN. | Pole :attribute není platný IBAN.
no_primary_account | Spoločnosť nemá nastavený hlavný bankový účet. | Společnost nemá nastavený hlavní bankovní účet.
not_negative | Suma dobropisu musí byť záporná. | Částka dobropisu musí být záporná.
stock | Na sklade nie je dosť položky :item: k dispozícii :available, žiadané :wanted. | Na skladě není dost položky :item: k dispozici :available, požadováno :wanted.
last_warehouse | Posledný sklad nie je možné vymazať. | Poslední sklad nelze smazat.
`;

const rows = translations.split("\n").map((line) => line.split(" | "));
const translated: Readonly<Record<string, ReadonlyMap<string | undefined, string | undefined>>> = {
  sk: new Map(rows.map(([key, slovak]) => [key, slovak])),
  cz: new Map(rows.map(([key, , czech]) => [key, czech])),
};

/** The message in a language of the service, with its placeholders filled in. */
export function message(key: MessageKey, language: string, values: Problem["values"] = {}): string {
  const template = translated[language]?.get(key) ?? english[key];
  return template.replace(/:([a-z]+)/g, (token, name: string) => String(values[name] ?? token));
}

/** The `errors` of a 422 body: field -> messages. They call `clientId` "client id". */
export function errorMap(problems: readonly Problem[], language: string): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  for (const { field, key, values } of problems) {
    const attribute = field.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    (errors[field] ??= []).push(message(key, language, { attribute, ...values }));
  }
  return errors;
}
