"""Wrong inputs, and the one sentence that each of them gets: on stderr, with exit status 2, and nothing is written."""

import gzip
import shlex

import pytest

import workbench as wb

FILES = {
    "docword.other.txt": "2\n2\n2\n1 1 3\n2 2 2\n",
    "vocab.other.txt": "ant\nyak\n",
    "docword.short.txt": "6\n4\n9\n1 1 3\n1 2 2\n",
    "docword.beyond.txt": "2\n2\n2\n1 1 3\n2 5 2\n",
    "docword.half.txt": "2\n2\n2\n1 1 2.5\n2 2 2\n",
    "docword.minus.txt": "2\n2\n2\n1 1 -3\n2 2 2\n",
    "words.dat": "2 0:1 9:x\n",
    "fewer.dat": "3 0:1 1:2\n",
    "no-text.csv": "title,body\na,b\n",
    "lines.jsonl": '{"text": "x"}\nnot json\n',
    "half.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 2 1\n",
    "twice.txt": "ant\nant\nbee\ncat\n",
    "three.txt": "ant\nbee\ncat\n",
    "empty.csv": "",
    "stop-words.jsonl": '{"text": "the of and"}\n',
    "births.csv": "year,lat,ant,yak\n2001,40,3,1\n2002,40,2,2\n2003,40,1,3\n",
    "gap.csv": "year,ant,yak\n2001,3,1\n,2,2\n",
    "tale.csv": "text\nant bee\ncat ant\n",
    "apart.csv": "document,word,count\na,ant,1\nb,ant,1\na,bee,1\n",
    "tale.txt": "ant yak ant bee yak ant bee bee\n",
    "bad.fasta": ">a\nACD1\n",
}
SIX, OTHER = "docword.six.txt", "docword.other.txt"
WRONG = [
    # files
    ("fit nowhere.txt", "no data set and no file 'nowhere.txt' (a path works too: "),
    (
        "fit koss",
        "no data set and no file 'koss' (a path works too: ",
    ),
    (
        "fit docword.short.txt",
        "docword.short.txt: the header promises 9 rows and 2 came, fewer: the file is truncated",
    ),
    ("fit docword.beyond.txt", "docword.beyond.txt, line 5: the word id must lie in 1..2; it is 5"),
    (
        "fit docword.half.txt",
        "docword.half.txt, line 4: the count must be a whole number, not '2.5'",
    ),
    (
        "fit docword.minus.txt",
        "docword.minus.txt, line 4: the count must be a whole number, not '-3'",
    ),
    (
        "fit docword.cut.txt.gz",
        "docword.cut.txt.gz, line 6: the compressed file ends early here; it is truncated",
    ),
    (
        "fit words.dat",
        "words.dat, line 1: a word id and its count were wanted as two whole numbers, id:count; '9:x' came",
    ),
    (
        "fit fewer.dat",
        "fewer.dat, line 1: the line promises 3 pairs and 2 came; the file is truncated or not an lda-c file",
    ),
    (
        "fit no-text.csv",
        "no-text.csv, line 1: no column 'text' for the text; there are 'title', 'body'; say which with text=",
    ),
    (
        "fit lines.jsonl",
        "lines.jsonl, line 2: not JSON (Expecting value, column 1); one JSON object a line was wanted",
    ),
    ("fit half.mtx", "half.mtx, line 3: the count must be a whole number, not '1.5'"),
    (
        "fit noise.bin",
        "noise.bin has a format that is not recognised; wanted is one of an lda-c file of counts, a UCI bag",
    ),
    ("fit empty.csv", "empty.csv is empty; a file with data was wanted"),
    (
        "fit stop-words.jsonl",
        "stop-words.jsonl: no word left in 1 text(s) after stop words and token_pattern=",
    ),
    (
        f"fit {SIX} --vocabulary twice.txt",
        "twice.txt, line 2: the word 'ant' stands on line 1 already; two words may not have",
    ),
    (f"fit {SIX} --vocabulary three.txt", "three.txt has 3 words where 4 were wanted"),
    # models, engines, options
    (
        f"fit {SIX} -e gensim",
        "no engine 'gensim'; there are vb, svb, online-vb, cvb, cvb0, cgs, svb-cgs, cvb-cgs, cvb0-cgs",
    ),
    (f"fit {SIX} -k 0", "--topics must be a whole number from 1 to 65535; got 0"),
    (f"fit {SIX} --alpha -1", "--alpha must be a number greater than 0 (at least 1e-08); got -1.0"),
    (f"fit {SIX} --alpha .1,.2", "--alpha must be one number or one per topic (10); got 2 numbers"),
    (
        f"fit {SIX} --alpha one",
        "--alpha must be a number, or one per topic separated by commas; got 'one'",
    ),
    (f"fit {SIX} --beta 0", "--beta must be a number greater than 0 (at least 1e-08); got 0.0"),
    (
        f"fit {SIX} -e svb-cgs -o q=1",
        "svb-cgs has no option 'q'; it is an option of sb-dtm",
    ),
    (
        f"fit {SIX} -e svb-cgs -o r=-1",
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got '-1'",
    ),
    (f"fit {SIX} -e svb-cgs -o r", "an option is written name=value, as in --option r=1; got 'r'"),
    (
        f"fit {SIX} -e cvb-cgs -o phases=interleaved -o n_chains=2",
        "phases=interleaved needs n_chains=1",
    ),
    (
        f"fit {SIX} -e vb -o restart_documents=maybe",
        "option 'restart_documents' of vb must be one of False, True; got 'maybe'",
    ),
    (
        f"fit {SIX} -e vb -o n_inner=1.5",
        "option 'n_inner' of vb must be a whole number of at least 1; got '1.5'",
    ),
    (
        f"fit {SIX} -e svb -o init=warm",
        "option 'init' of svb must be one of dirichlet, noise, hard, smooth; got 'warm'",
    ),
    # rows with inputs, and sequences
    (
        "fit births.csv --read inputs=year,lat -e sbm-gp",
        "the input 'lat' must differ between documents; it is 40 in all 3",
    ),
    (
        "fit births.csv --read inputs=yeer -e sbm-gp",
        "births.csv, line 1: no column 'yeer' for the inputs; there are 'year',",
    ),
    (
        "fit gap.csv --read inputs=year -e static",
        "gap.csv, line 3: 'year' must be a finite number, not ''",
    ),
    (
        f"fit {SIX} -e raw-gp",
        "a process over inputs needs a number for each document, as its year; 'six' has none; give",
    ),
    (
        "fit births.csv --read inputs=year -e lnm-gp -o scale=0",
        "option 'scale' of lnm-gp must be a number from 1e-06",
    ),
    (
        "fit births.csv --read inputs=year --holdout-rows year>2009 -e static",
        "--holdout-rows are written 'last 10'",
    ),
    (
        "fit tale.txt --read format=words -e hmm --holdout-rows 'last 9'",
        "no sequence of 'tale' is longer than 9",
    ),
    (
        "fit tale.txt --read format=words -e hmm --holdout-rows 'last 0'",
        "--holdout-rows are written 'last 10', 'year>=2012'",
    ),
    (
        "fit tale.txt --read format=words -e hmm -k 3",
        "hmm has a model of its own, so leave out --topics; its options are",
    ),
    (
        "fit tale.txt --read format=words -e sbm-lds -o state_dim=50",
        "state_dim=50 must be at most the number of documents",
    ),
    (
        "fit tale.txt --read format=words -e lnm-lds -o sweep_particles=1",
        "option 'sweep_particles' of lnm-lds must be a whole",
    ),
    (
        "fit bad.fasta -e hmm",
        "bad.fasta, line 2: '1' is no symbol; letters, * and - are; take it out",
    ),
    (f"fit {SIX} -e hmm", "the documents of 'six' stand in no sequences; give sequence="),
    # hyperparameters, and the engines of the HDP
    (f"fit {SIX} -e cvhdp", "no engine 'cvhdp'; did you mean 'cv-hdp'?"),
    (
        f"fit {SIX} -e cv-hdp --alpha .1",
        "cv-hdp has no alpha per topic; leave it out, and set the option alpha_total if",
    ),
    (
        f"fit {SIX} -e g-hdp --beta .1",
        "g-hdp has no beta per word; leave it out, and set the option beta_total if its total",
    ),
    (
        f"compare {SIX} -e cv-hdp,g-hdp --beta .1",
        "cv-hdp has no beta per word; leave it out, and set the option beta_total",
    ),
    (
        f"sweep {SIX} -e cv-hdp -g alpha=.1,.2",
        "cv-hdp has no alpha per topic; leave it out, and set the option alpha_total",
    ),
    (f"fit {SIX} -e g-hdp -k 0", "--topics must be a whole number from 1 to 65535; got 0"),
    (
        f"fit {SIX} -e cv-hdp -o alpha_total=2",
        "alpha_total would be without effect: alpha is learnt; give learn_alpha=False",
    ),
    (
        f"fit {SIX} -e cv-hdp -o beta_total=5 -o learn_beta=True",
        "beta_total would be without effect: beta is learnt",
    ),
    (
        f"fit {SIX} -e g-hdp -o top_concentration=2",
        "top_concentration would be without effect: gamma is learnt; give",
    ),
    (
        f"fit {SIX} -e g-hdp -o a_gamma=0",
        "option 'a_gamma' of g-hdp must be a number from 1e-08 to 1e+12; got '0'",
    ),
    (
        f"fit {SIX} -e g-hdp -o learn_tau=True",
        "g-hdp has no option 'learn_tau'; it is an option of cv-hdp",
    ),
    (
        f"fit {SIX} -e cv-hdp -o learn_alpha=maximised",
        "option 'learn_alpha' of cv-hdp must be one of False, True; got",
    ),
    (
        f"fit {SIX} -e cv-hdp -o update=third",
        "option 'update' of cv-hdp must be one of second_order, conditional, zeroth; got",
    ),
    (
        f"fit {SIX} -e cv-hdp -o moves_every=-1",
        "option 'moves_every' of cv-hdp must be a whole number of at least 0; got '-1'",
    ),
    (
        f"fit {SIX} -e cgs -o learn_alpha=yes",
        "option 'learn_alpha' of cgs must be one of fixed, maximised, sampled; got 'yes'",
    ),
    (
        f"fit {SIX} -e svb -o learn_beta=True",
        "option 'learn_beta' of svb must be one of fixed, maximised, sampled; got 'True'",
    ),
    (
        f"fit {SIX} -e cgs -o a_alpha=2",
        "a_alpha would be without effect: alpha is not sampled; set learn_alpha=sampled,",
    ),
    # runs
    (f"fit {SIX} -n 0", "--iterations must be a whole number from 1 to 1048576; got 0"),
    (f"fit {SIX} --holdout 1.5", "--holdout must be a number of at least 0 and below 1; got 1.5"),
    (f"fit {SIX} --split-seed -1", "--split-seed must be a whole number of at least 0; got -1"),
    (f"fit {SIX} --threads 0", "--threads must be a whole number from 1 to 1024; got 0"),
    (
        f"fit {SIX} --stop-on bound -e svb --stop-tolerance -1",
        "--stop-tolerance must be a number of at least 0; got -1.0",
    ),
    (f"fit {SIX} -k ten", "--topics must be a whole number; got 'ten'"),
    (f"fit {SIX} --beta 0,1", "--beta must be a number; got '0,1'"),
    ("label mine first birds", "TOPIC must be a whole number; got 'first'"),
    ("resume mine -n 0", "--iterations must be a whole number from 1 to 1048576; got 0"),
    (
        "resume mine -n 1048577",
        "--iterations must be a whole number from 1 to 1048576; got 1048577",
    ),
    (
        f"fit {SIX} --holdout 0.001",
        "--holdout 0.001 of 28 tokens is no token at all; ask for a larger --holdout, or",
    ),
    (
        f"fit {SIX} --holdout-per word",
        "--holdout-per must be one of corpus, document, half; got 'word'",
    ),
    (
        f"fit {SIX} -e cgs --stop-on steps",
        "cgs counts no steps to stop on; set its iterations, or choose cv-hdp or g-hdp",
    ),
    (f"fit {SIX} --seed -1", "--seed must be a whole number from 0 to 9223372036854775807; got -1"),
    (
        f"fit {SIX} --top-words 9",
        "--top-words must be at most the 4 words of 'six'; got 9; leave it out",
    ),
    (
        f"fit {SIX} --singletons some",
        "--singletons must be one of keep, train, both-own, both-full; got 'some'",
    ),
    (f"fit {SIX} --start nobody", "no run 'nobody' in runs; runs holds 1 run"),
    (
        f"fit {OTHER} -k 2 --holdout 0 --start mine",
        "mine has another vocabulary than the corpus; a run can start from one",
    ),
    (
        f"fit {SIX} --stop-on bound",
        "cgs has no bound to stop on; stop on perplexity, or choose vb, svb, online-vb, cvb",
    ),
    (
        f"fit {SIX} --stop-on luck",
        "--stop-on must be one of bound, perplexity, steps, or None; got 'luck'",
    ),
    (
        f"fit {SIX} --restarts 2",
        "restarts are compared by their bound and cgs has none; vb, svb, online-vb, cvb, cvb0, cv-hdp",
    ),
    (
        f"fit {SIX} --name ../x",
        "a run's name begins with a letter or digit and has letters, digits and ._+=,- only; got",
    ),
    (
        f"fit {SIX} --name mine -k 3",
        "a run named 'mine' with other settings exists in runs; choose another name or remove it",
    ),
    (f"compare {SIX} -e ,", "a comparison needs at least one engine; got none"),
    (
        f"compare {SIX} -e svb,cgs -o r=1",
        "svb, cgs have no option 'r'; it is an option of svb-cgs, cvb-cgs,",
    ),
    (
        f"sweep {SIX} --grid topics=",
        "a grid is written name=values, as in --grid r=0,1,inf; got 'topics='",
    ),
    (
        f"sweep {SIX} --grid r=1 --warm",
        "a warm sweep goes from few topics to many; give topics in the grid",
    ),
    (
        f"sweep {SIX} --grid q=1",
        "no key 'q' for a grid of svb-cgs; there are engine, n_topics, alpha,",
    ),
    ("show min", "no run 'min' in runs; did you mean 'mine'?"),
    (
        f"update mine {SIX}",
        "update continues a run of online-vb, and mine is one of svb; begin one from it: workbench fit",
    ),
    (f"update nobody {SIX}", "no run 'nobody' in runs; runs holds 1 run"),
    ("update mine - --skip -1", "--skip must be a whole number of at least 0; got -1"),
    (
        "fit-stream tale.csv",
        "a stream needs its vocabulary before the first document; give it with --vocabulary: a text file",
    ),
    (
        "fit-stream nowhere.txt --vocabulary three.txt",
        "no data set and no file 'nowhere.txt' (a path works too: ",
    ),
    (
        "fit-stream tale.csv --vocabulary nowhere.txt",
        "there is no vocabulary 'nowhere.txt'; wanted is a text file with a word",
    ),
    (
        "fit-stream tale.csv --vocabulary twice.txt",
        "twice.txt, line 2: the word 'ant' stands on line 1 already; two words may",
    ),
    (
        "fit-stream tale.csv --vocabulary noise.bin",
        "noise.bin, line 1: byte 0x80 is not UTF-8; save the file with the",
    ),
    (
        "fit-stream noise.bin --vocabulary three.txt",
        "noise.bin has a format that is not recognised; wanted is one of",
    ),
    (
        "fit-stream births.csv --vocabulary three.txt",
        "births.csv, line 1: no column 'text' for the text; there are 'year',",
    ),
    (
        "fit-stream no-text.csv --vocabulary three.txt --read text=body",
        "none of 1 document has a word that the vocabulary",
    ),
    (
        "fit-stream tale.csv --vocabulary three.txt --passes 0",
        "--passes must be a whole number of at least 1; got 0",
    ),
    (
        "fit-stream tale.csv --vocabulary three.txt -k 0",
        "--topics must be a whole number from 1 to 65535; got 0",
    ),
    (
        "fit-stream tale.csv --vocabulary three.txt -o batch=1",
        "online-vb has no option 'batch'; it is an option of sb-ctm-vb; did you mean 'batch_size'?",
    ),
    (
        "fit-stream tale.csv --vocabulary three.txt --read min_documents=2",
        "no option 'min_documents' of a stream, whose",
    ),
    (
        "fit-stream - --vocabulary three.txt",
        "the length of a stream is unknown; set --total-documents, the number of documents",
    ),
    (
        "fit-stream - --vocabulary three.txt --total-documents 9 --passes 2",
        "--passes=2 needs documents that can be gone",
    ),
    (
        "fit-stream - tale.csv --vocabulary three.txt",
        "standard input is a stream of its own; leave the files out, or write",
    ),
    (
        "fit-stream apart.csv --vocabulary three.txt",
        "apart.csv: the rows of a document do not follow each other, or documents",
    ),
    (
        "update mine - --read text=body",
        "standard input is a text on each line; leave out --vocabulary and --read, or give a",
    ),
    # what is made of runs
    ("infer mine nowhere.txt", "no data set and no file 'nowhere.txt'"),
    (
        f"infer mine {SIX} --protocol luck",
        "--protocol must be one of theta, document_completion, foldin_same; got 'luck'",
    ),
    (
        "bound mine",
        "the bound B belongs to the hybrids (svb-cgs, cvb-cgs, cvb0-cgs, adaptive-cgs, mixed-cgs); run 'mine' is svb",
    ),
    ("figures mine --format gif", "figures are written as svg, pdf, png; got 'gif'"),
    (
        "export mine --format word",
        "runs are exported as csv, long, npz, netcdf, zarr, mallet, lda-c, pyldavis; got 'word'",
    ),
    ("data info koz", "no data set 'koz'; did you mean 'kos'?"),
    (f"data convert {SIX} out.xyz", "the name 'out.xyz' says no format; say which with format="),
    (
        f"data convert {SIX} {SIX}",
        f"{SIX} is what is read and is never overwritten; choose another OUT",
    ),
    (
        "reproduce hybrid-fig99",
        "no figure 'hybrid-fig99' to reproduce; did you mean 'hybrid-fig9'?",
    ),
    (
        "reproduce cv-hdp-kos500 -n 3",
        "cv-hdp-kos500 has a separate length for each algorithm; leave the iterations out",
    ),
    (
        "reproduce hybrid-fig3 -k 5",
        "hybrid-fig3 has one number of topics, 10; leave the topics out",
    ),
    (
        "reproduce cv-hdp-fig2 -k a",
        "--topics takes whole numbers separated by commas, such as 40,80; got 'a'",
    ),
    # as told by other flags
    (
        f"fit {SIX} --read min_documents=5",
        f"{SIX} is a bag of words, already counted; leave out min_documents",
    ),
    (f"fit {SIX} --read min_docs=5", "a reader option for raw text must be one of stop_words"),
    (f"fit {SIX} --engine lda-gibs", "no engine 'lda-gibs'; "),
    (
        f"fit {SIX} --alpha .1,.2,.3 -k 2",
        "--alpha must be one number or one per topic (2); got 3 numbers",
    ),
    (f"fit {SIX} --option r=1", "cgs has no option 'r'"),
    (f"compare {SIX} --seeds 0", "--seeds must be a whole number of at least 1; got 0"),
    (f"compare {SIX} --jobs 0", "--jobs must be a whole number of at least 1; got 0"),
    (f"runs --store {SIX}", f"{SIX} is a file; --store takes the folder of the runs"),
    ("runs --store nowhere", "there is no folder nowhere; --store takes the folder of the runs"),
    ("show nobody", "no run 'nobody' in runs; runs holds 1 run"),
    ("resume nobody", "no run 'nobody' in runs; runs holds 1 run"),
    ("report nobody", "no run 'nobody' in runs; runs holds 1 run"),
    # sweeps and clusters
    (
        f"sweep {SIX} -g r=1,2 --warm --detach",
        "a warm sweep goes from few topics to many; give topics in the grid",
    ),
    (f"sweep {SIX}", "Missing option '--grid' / '-g'"),
    (f"sweep {SIX} -g r", "a grid is written name=values, as in --grid r=0,1,inf; got 'r'"),
    (f"sweep {SIX} -g r=,", "a grid is written name=values, as in --grid r=0,1,inf; got 'r=,'"),
    (f"sweep {SIX} -g r=1 -g r=2", "--grid names 'r' twice; put its values into one list"),
    (f"sweep {SIX} -g topic=1", "no key 'topic' for a grid of svb-cgs; did you mean 'topics'?"),
    (
        f"sweep {SIX} -g r=abc",
        "option 'r' of svb-cgs must be a number of at least 0 or inf; got 'abc'",
    ),
    (f"sweep {SIX} -g topics=2.5", "--topics must be a whole number from 1 to 65535; got 2.5"),
    (
        f"sweep {SIX} -g r=1 -o r=2",
        "'r' is both in the grid and a separate argument; leave one out",
    ),
    (f"sweep {SIX} -g r=1 --jobs 0", "--jobs must be a whole number of at least 1; got 0"),
    (
        f"sweep {SIX} -g r=1 --scheduler nonsense",
        "a scheduler is an address such as tcp://10.0.0.1:8786, 'local' for the",
    ),
    (
        f"sweep {SIX} -g r=1 --scheduler local --jobs 2",
        "on a cluster as many runs are computed at a time as its workers have threads; leave --jobs out",
    ),
    (
        f"sweep {SIX} -g r=1 --scheduler local --detach",
        "the workers of a local cluster end with the command; leave --detach out",
    ),
    (
        f"fit {SIX} --scheduler local --detach",
        "the workers of a cluster share a run of this process; leave --detach",
    ),
    (
        f"compare {SIX} --scheduler local --detach",
        "the workers of a local cluster end with the command; leave --detach out",
    ),
    (
        f"sweep {SIX} -g topics=1,2 --warm --scheduler tcp://here:1 --detach",
        "a warm sweep on a cluster needs its client",
    ),
    # files and exports
    (
        f"data convert {SIX} out.txt",
        "the name 'out.txt' says no format; say which with format=…, one of lda-c, uci",
    ),
    (f"data convert {SIX} out.csv --format word", "--format must be one of lda-c, uci, mtx"),
    (f"data convert {SIX} . --format csv", ". is a folder; give the name of a file"),
    ("data convert nowhere.dat out.csv", "no data set and no file 'nowhere.dat'"),
    (
        f"data convert {SIX} out.csv --read min_documents=2",
        f"{SIX} is a bag of words, already counted",
    ),
    ("export nobody", "no run 'nobody' in runs; runs holds 1 run"),
    ("export", "Missing argument 'RUN…'"),
    # inference, bounds
    ("infer nobody tale.csv", "no run 'nobody' in runs; runs holds 1 run"),
    ("infer mine nowhere.csv", "no data set and no file 'nowhere.csv"),
    (
        "infer mine tale.csv --protocol halves",
        "--protocol must be one of theta, document_completion, foldin_same; got 'halves'",
    ),
    (
        "infer mine tale.csv --protocol foldin_same --out a.csv",
        "--out writes theta, and --protocol foldin_same gives one",
    ),
    ("infer mine tale.csv --seed -1", "--seed must be a whole number from 0"),
    ("infer mine tale.csv --out tale.csv/theta.csv", "cannot write tale.csv/theta.csv"),
    ("bound half --method fast", "--method must be one of ais, bracket, exact; got 'fast'"),
    ("bound nobody", "no run 'nobody' in runs; runs holds 1 run"),
    # topics and documents
    ("documents mine --topic 3", "there is no topic 3; the run has 0 to 1"),
    ("documents mine --number 0", "the number of documents must be"),
    ("topics mine --words 0", "the number of top words must be"),
    ("topics mine --relevance 2", "relevance must be a number from 0"),
    ("topics mine-", "no run 'mine-' in runs; did you mean 'mine'?"),
    # notes and labels
    ("note mine --untag good", "mine has no tag 'good'; it has none"),
    ("note mine --tag a,b", "a tag holds no comma"),
    ("label mine 2 x", "there is no topic 2 in run 'mine'; it has 0 to 1"),
    ("note c x", "no run 'c' in runs; runs holds 1 run"),
    # networks
    (
        f"fit {SIX} -e network-vb --model author-topic",
        "network 'author-topic' needs the authors of documents",
    ),
    (
        f"fit {SIX} -e network-vb --model pachinko --size super",
        "a size is written name=number, as in --size super=5; got 'super'",
    ),
    (
        f"fit {SIX} -e network-vb --model pachinko --size supper=5",
        "network 'pachinko' has no variable 'supper'; did you mean 'super'?",
    ),
    (
        f"fit {SIX} -e network-vb --model nothing.toml",
        "there is no file nothing.toml; check the path",
    ),
    (
        f"fit {SIX} -e cgs --model lda",
        "cgs has a model of its own, so leave out --model, or choose",
    ),
    # records
    (
        "compare votes",
        "'votes' is a data set of records, and documents were wanted; choose other data, or an engine for records",
    ),
    (
        "compare votes --engines bn-vb,cgs",
        "engines that are compared infer from the same data, and bn-vb from records and cgs from documents; leave one out",
    ),
    (
        "fit bars -e bn-vb",
        "'bars' is a data set of documents, and records were wanted; choose other data, or an engine for documents",
    ),
    (
        "fit votes -e bn-vb --holdout-per half",
        "--holdout-per must be cell or record for records; got 'half'",
    ),
    (
        "fit bars --holdout-per record",
        "--holdout-per must be one of corpus, document, half; got 'record'",
    ),
    (
        "fit votes -e bn-vb --top-words 5",
        "records have no words or documents, so --top-words would be without effect; leave it out",
    ),
    (
        "fit votes -e bn-vb --vocabulary x.txt",
        "the data set 'votes' has no option 'vocabulary'; there are party",
    ),
    (
        "data convert votes out.npz",
        "'votes' is a data set of records, and documents were wanted; choose other data, or an engine for records",
    ),
    # cuts of a corpus
    (
        "fit bars:side=3 --top-words 10",
        "--top-words must be at most the 9 words of 'bars:side=3'; got 10; leave it out to keep",
    ),
    (
        "compare bars:side=3 --top-words 10",
        "--top-words must be at most the 9 words of 'bars:side=3'; got 10; leave it out to keep",
    ),
    ("fit bars:side=3 --top-words 0", "--top-words must be a whole number of at least 1; got 0"),
    (
        "compare bars:side=3 --top-words 0",
        "--top-words must be a whole number of at least 1; got 0",
    ),
    ("fit bars:side=3 --merge 0", "--merge must be a whole number of at least 1; got 0"),
    ("compare bars:side=3 --merge 0", "--merge must be a whole number of at least 1; got 0"),
    ("fit bars:side=3 --repeat 0", "--repeat must be a whole number of at least 1; got 0"),
    ("compare bars:side=3 --repeat 0", "--repeat must be a whole number of at least 1; got 0"),
    ("fit bars:side=3 --repeat 999999999", "--repeat must be at most "),
    ("compare bars:side=3 --repeat 999999999", "--repeat must be at most "),
    (
        "fit bars:side=3 --singletons none",
        "--singletons must be one of keep, train, both-own, both-full; got 'none'",
    ),
    (
        "compare bars:side=3 --singletons none",
        "--singletons must be one of keep, train, both-own, both-full; got 'none'",
    ),
    # commands
    ("frobnicate", "No such command 'frobnicate'."),
    ("fit", "Missing argument 'CORPUS'."),
]


@pytest.fixture
def desk(command, six_documents, tmp_path, monkeypatch):
    """A folder with the wrong files, and a store with one run of `svb`, K=2, named mine."""
    monkeypatch.delenv("WORKBENCH_DATA", raising=False)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "noise.bin").write_bytes(bytes(range(128, 256)) * 3)
    (tmp_path / "docword.cut.txt.gz").write_bytes(
        gzip.compress((tmp_path / six_documents).read_bytes(), mtime=0)[:40]
    )
    assert (
        command("fit", six_documents, "-e", "svb", "-k", 2, "-n", 2, "--name", "mine", "-q")[0] == 0
    )
    return tmp_path


def files_below(folder):
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def test_wrong_inputs_get_one_sentence_and_nothing_is_written(command, desk):
    """All on one desk, since making it is what takes time; the first that fails is named."""
    before = files_below(desk)
    for line, sentence in WRONG:
        status, out, err = command(*shlex.split(line))
        told = err.strip().splitlines()
        assert (status, out) == (2, ""), line
        assert told[-1].startswith(f"workbench: {sentence}"), (line, told)
        assert "Traceback" not in err, line
        assert files_below(desk) == before, line
    assert len(wb.open_runs()) == 1
