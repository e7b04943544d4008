"""Texts in other encodings than UTF-8: named, marked, or detected with a warning."""

import re
import warnings

import pytest
from data_files import put, refusal

import workbench as wb

WESTERN = "text\nété café\nnaïve\n"
RUSSIAN = (
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. "
    * 3
)
SENTENCES = {
    "cp1252": [
        "It’s “fine” – he said",  # marks of an office program
        "Les élèves étudient à l'école près de la forêt. Où êtes-vous allés pendant l'été dernier ? Ça ne m'étonne guère.",
        "Die Bürger wählen im Frühling. Über den Flüssen hängt dichter Nebel. Schöne Grüße aus Köln, für die Kühe Gräser.",
        "El niño comió una piña en el jardín. Mañana habrá una reunión. La canción sonó también en Japón. ¿Dónde está?",
        "A situação econômica do país não é fácil. Os pães e as maçãs são boas. Três irmãos vivem à beira do rio. Você já leu?",
        "Småbarnen går till skolan på måndag. Äpplen och päron växer på träden. Öborna åker över sjön. Björnen sover länge.",
        "Lapset menevät kouluun. Hän ei tiedä mitä tehdä. Tänään sää on kylmä. Äiti keittää kahvia. Yöllä näkyy tähtiä.",
        "La città è più bella di notte. Perché non sei venuto? Così è la vita. Lunedì andrò all'università. Virtù e libertà.",
        "Það er kalt á Íslandi á veturna. Hún þekkir fólkið sem býr við sjóinn. Maðurinn keypti brauð og mjólk í búðinni.",
        "Børnene går i skole hver dag. Æblerne er røde, og pærerne er grønne. Øerne ligger langt ude på havet.",
        "Els nens van a l'escola cada matí. La cançó és molt bonica. Què vols fer aquest pròxim estiu? Això també és així.",
        "De coöperatie heeft één idee. Patiënten zijn geïnteresseerd in de reünie. België heeft drie ministeriële zeeën.",
        "Fëmijët shkojnë në shkollë çdo ditë. Është një ditë e bukur dhe dielli ndriçon. Çfarë po bën tani në shtëpi?",
        "Lapsed lähevad kooli igal hommikul. Õunad ja pirnid kasvavad puude otsas. Öö on külm ja tähed säravad.",
    ],
    "cp1250": [
        "Wczoraj rząd ogłosił nowe święto. Dzieci poszły do szkoły. Książka leży na półce obok łóżka. Mężczyzna kupił chleb.",
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Vláda včera schválila nový zákon. Děti šly ráno do školy přes řeku.",
        "Az idő gyorsan múlik, és az ősz hűvös szelet hoz. Ő jött először, és utolsóként ment el. A főváros fürdői híresek.",
        "Copiii merg la şcoală în fiecare dimineaţă. Guvernul a hotărât să mărească preţurile. Pâinea şi brânza sunt pe masă.",
        "Deti idú ráno do školy cez rieku. Vláda včera schválila nový zákon. Ľudia kúpili chlieb, mlieko a štyri vajíčka.",
        "Otroci gredo zjutraj v šolo čez reko. Vlada je včeraj sprejela nov zakon. Življenje je težko. Kdo išče ključe?",
        "Djeca idu ujutro u školu. Gdje ćeš biti večeras? Život je lijep, a čovjek traži sreću. Đak uči novi zakon.",
    ],
    "cp1254": [
        "Öğrenciler sınıfta kitap okuyor. Şimdi eve gidiyorum, yarın görüşürüz. İşçiler akşama kadar çalıştı."
    ],
    "cp1257": [
        "Vaikai eina į mokyklą. Šiandien šalta ir lyja. Vyriausybė priėmė naują įstatymą. Močiutė kepa.",
        "Bērni iet uz skolu katru rītu. Valdība vakar pieņēma jaunu likumu. Kur tu biji šodien? Kaķis guļ uz dīvāna.",
    ],
}
GREEK = (
    "Η δημοκρατία είναι το πολίτευμα στο οποίο η εξουσία πηγάζει από τον λαό, ασκείται από τον λαό. "
    * 3
)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1"]
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_an_encoding_that_is_named_is_read(tmp_path, encoding, suffix):
    path = put(tmp_path, f"a{suffix}", WESTERN.encode(encoding))
    assert wb.load_corpus(path, encoding=encoding).table.texts == ("été café", "naïve")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_believed_without_a_word(tmp_path, encoding):
    path = put(tmp_path, "a.csv", WESTERN.encode(encoding))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpus = wb.load_corpus(path, format="csv")
    assert corpus.vocabulary == ("café", "naïve", "été")


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        ("été café", "latin-1", "cp1252"),
        (RUSSIAN, "cp1251", "cp1251"),
        (RUSSIAN, "koi8-r", "koi8_r"),
        (GREEK, "cp1253", "cp1253"),
    ],
)
def test_another_encoding_is_detected_and_said(tmp_path, text, encoding, said):
    (tmp_path / "1.txt").write_bytes(text.encode(encoding))
    with pytest.warns(
        UserWarning,
        match=rf"1.txt is not UTF-8 and was read as {said}; say encoding=… if that is wrong",
    ):
        corpus = wb.load_corpus(tmp_path, stop_words=None)
    assert corpus.table.texts == (text,) and corpus.vocabulary == wb.corpus_of([text]).vocabulary


@pytest.mark.parametrize("n", [1, 60])
@pytest.mark.parametrize(
    ("encoding", "text"), [(name, text) for name, texts in SENTENCES.items() for text in texts]
)
def test_languages_of_latin_letters_are_told_apart(tmp_path, encoding, text, n):
    (tmp_path / "a.csv").write_text("text\n" + f'"{text}"\n' * n, encoding=encoding)
    with pytest.warns(UserWarning, match=f"was read as {encoding};"):
        assert set(wb.load_corpus(tmp_path / "a.csv").table.texts) == {text}


@pytest.mark.parametrize(
    ("name", "content", "options", "sentence"),
    [
        (
            "a.csv",
            b"text\n" + bytes(byte for byte in range(128, 256)) * 3,
            {},
            "a.csv, line 2: byte 0x80 is not UTF-8; .* or say which it has with encoding=",
        ),
        (
            "a.csv",
            WESTERN.encode() + b"caf\xe9\n",
            {},
            "a.csv, line 4: byte 0xe9 is not UTF-8; .* or say which it has with encoding=",
        ),
        (
            "docword.a.txt",
            b"1\n1\n1\n1 1 1\n",
            {"encoding": "cp1252"},
            "which has no encoding to choose; leave encoding out",
        ),
    ],
    ids=["no text", "one wrong byte", "counts"],
)
def test_what_is_no_text_has_no_encoding(tmp_path, name, content, options, sentence):
    assert re.search(sentence, refusal(put(tmp_path, name, content), **options))
